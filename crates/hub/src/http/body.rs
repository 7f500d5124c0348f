//! Request bodies: bounded in bytes and in time, and strict JSON.

use std::time::Duration;

use axum::body::{Body, Bytes};
use bytes::BytesMut;
use countersign_protocol::json;
use countersign_telemetry::request::error_id;
use http_body::Body as _;
use http_body_util::BodyExt;
use serde::de::DeserializeOwned;
use tokio::time::{Instant, timeout, timeout_at};

use crate::Hub;
use crate::http::client_addr::ClientAddr;
use crate::limits::memory_budget::{LARGE_BODY_BYTES, MemoryPermit};
use crate::problem::Problem;

/// For a whole body; for a large one, the time between two chunks.
const READ_TIMEOUT: Duration = Duration::from_secs(30);
/// A body whose limit is above this may take `LARGE_READ_TIMEOUT`.
const LARGE_LIMIT_BYTES: usize = 8 * 1024 * 1024;
const LARGE_READ_TIMEOUT: Duration = Duration::from_secs(180);
/// An oversized request is read and discarded up to this size. Closing at once would reset the connection while the
/// client still sends, and the client would never see the error.
const MAX_DISCARDED_BYTES: u64 = 8 * 1024 * 1024;
const DISCARD_TIMEOUT: Duration = Duration::from_secs(5);

pub async fn read(mut body: Body, limit: usize) -> Result<Bytes, Problem> {
    let bytes = read_within(&mut body, limit).await;
    if matches!(bytes, Err(BodyError::TooLarge)) && body.size_hint().lower() <= MAX_DISCARDED_BYTES {
        // A slower client gets a reset connection.
        drop(timeout(DISCARD_TIMEOUT, discard(&mut body)).await);
    }
    bytes.map_err(|error| error.into_problem(limit))
}

/// Collects the body into one buffer. A list of chunks would take many times their bytes when they are small.
async fn read_within(body: &mut Body, limit: usize) -> Result<Bytes, BodyError> {
    if body.size_hint().lower() > limit as u64 {
        return Err(BodyError::TooLarge);
    }
    let read_timeout = if limit > LARGE_LIMIT_BYTES {
        LARGE_READ_TIMEOUT
    } else {
        READ_TIMEOUT
    };
    let deadline = Instant::now() + read_timeout;
    let mut first = Bytes::new();
    let mut all = BytesMut::new();
    loop {
        let chunk_deadline = deadline.min(Instant::now() + READ_TIMEOUT);
        let next = timeout_at(chunk_deadline, body.frame()).await;
        let Some(next) = next.map_err(|_| BodyError::Stalled)? else {
            break;
        };
        let frame = next.map_err(|_| BodyError::Disconnected)?;
        let Ok(piece) = frame.into_data() else { continue };
        if first.len() + all.len() + piece.len() > limit {
            return Err(BodyError::TooLarge);
        }
        if all.is_empty() && first.is_empty() {
            first = piece;
            continue;
        }
        if all.is_empty() {
            all.extend_from_slice(&std::mem::take(&mut first));
        }
        all.extend_from_slice(&piece);
    }
    // Most bodies arrive in one chunk, which needs no copy.
    Ok(if all.is_empty() { first } else { all.freeze() })
}

enum BodyError {
    TooLarge,
    Disconnected,
    Stalled,
}

impl BodyError {
    fn into_problem(self, limit: usize) -> Problem {
        match self {
            Self::TooLarge => Problem::InvalidField {
                field: "envelope".to_owned(),
                message: format!("the request is larger than {limit} bytes; send less, or link to the rest"),
            },
            Self::Disconnected => {
                Problem::malformed("the connection ended before the whole request body arrived; send it again")
            }
            Self::Stalled => Problem::TimedOut,
        }
    }
}

/// Reads a body that may be large, under the memory budget of the caller. Dropping the permit releases its bytes.
pub async fn read_budgeted(
    hub: &Hub,
    caller: &str,
    body: Body,
    limit: usize,
) -> Result<(Bytes, Option<MemoryPermit>), Problem> {
    let size = body.size_hint();
    let bytes = size
        .upper()
        .and_then(|upper| usize::try_from(upper).ok())
        .map_or(limit, |upper| upper.min(limit));
    // A body that is refused for its size needs no permit.
    let permit = if size.lower() > limit as u64 {
        None
    } else {
        hub.limits.memory.acquire(caller, bytes).await?
    };
    Ok((read(body, limit).await?, permit))
}

/// Reads the body of a caller that is not known yet. It is counted from its first byte, also a small one; the rest of
/// one that is too large is not read.
pub async fn read_unknown(
    hub: &Hub,
    ClientAddr(address): ClientAddr,
    mut body: Body,
    limit: usize,
) -> Result<(Bytes, MemoryPermit), Problem> {
    let announced = body.size_hint().upper().and_then(|bytes| usize::try_from(bytes).ok());
    let bytes = announced.unwrap_or(limit).min(limit);
    let permit = hub.limits.memory.reserve_unknown(address, bytes).await?;
    let bytes = read_within(&mut body, limit).await;
    Ok((bytes.map_err(|error| error.into_problem(limit))?, permit))
}

/// Runs work whose cost grows with the input: inline when `bytes` is small, else on the blocking pool.
pub async fn offload_if_large<T: Send + 'static>(
    bytes: usize,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, Problem> {
    if bytes < LARGE_BODY_BYTES {
        return Ok(work());
    }
    tokio::task::spawn_blocking(work).await.map_err(|error| {
        let id = error_id();
        tracing::error!(error_id = %id, %error, "worker for a large request panicked");
        Problem::Unavailable { id }
    })
}

async fn discard(body: &mut Body) {
    let mut discarded = 0;
    while let Some(Ok(frame)) = body.frame().await
        && discarded <= MAX_DISCARDED_BYTES
    {
        discarded += frame.data_ref().map_or(0, |data| data.len() as u64);
    }
}

/// Reads the small JSON bodies of our own API. The A2H envelope has its own parser with its own errors.
pub async fn read_json<T: DeserializeOwned>(body: Body) -> Result<T, Problem> {
    const LIMIT: usize = 64 * 1024;
    parse_json(&read(body, LIMIT).await?)
}

pub fn parse_json<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, Problem> {
    let value = json::parse(bytes)?;
    serde_json::from_value(value).map_err(|error| Problem::malformed(error.to_string()))
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use futures_util::stream::{self, StreamExt};

    use super::*;

    #[tokio::test]
    async fn chunked_body_is_reassembled() {
        for pieces in [
            vec![],
            vec!["one"],
            vec!["one", "", "two"],
            vec!["", "a", "b"],
            vec!["a", "b", "", "c", ""],
        ] {
            let sent = stream::iter(pieces.clone()).map(Ok::<_, Infallible>);
            assert_eq!(read(Body::from_stream(sent), 100).await, Ok(pieces.concat().into()));
        }
        let long = stream::iter(["12345"; 30]).map(Ok::<_, Infallible>);
        assert!(matches!(
            read(Body::from_stream(long), 149).await,
            Err(Problem::InvalidField { .. })
        ));
    }

    #[tokio::test(start_paused = true)]
    async fn stalled_body_times_out() {
        let silent = stream::iter(["a"]).chain(stream::pending()).map(Ok::<_, Infallible>);
        let begun = tokio::time::Instant::now();
        assert_eq!(
            read(Body::from_stream(silent), 2 * LARGE_LIMIT_BYTES).await,
            Err(Problem::TimedOut)
        );
        assert_eq!(begun.elapsed().as_secs(), READ_TIMEOUT.as_secs());
        let slow = stream::repeat("a").then(async |piece| {
            tokio::time::sleep(Duration::from_secs(29)).await;
            Ok::<_, Infallible>(piece)
        });
        assert_eq!(
            read(Body::from_stream(Box::pin(slow)), 2 * LARGE_LIMIT_BYTES).await,
            Err(Problem::TimedOut)
        );
    }
}
