//! Request bodies: bounded in bytes and in time, and strict JSON.

use std::time::Duration;

use axum::body::{Body, Bytes};
use countersign_protocol::json;
use http_body::Body as _;
use http_body_util::{BodyExt, LengthLimitError, Limited};
use serde::de::DeserializeOwned;

use crate::problem::Problem;

const PATIENCE: Duration = Duration::from_secs(30);
/// For what may be larger than this.
const LARGE: usize = 8 * 1024 * 1024;
const PATIENCE_IF_LARGE: Duration = Duration::from_secs(180);
/// So much of a request that is too large is read and thrown away. Closing at once would break the connection while the
/// client still sends, and it would never see why.
const THROWN_AWAY: u64 = 8 * 1024 * 1024;
const THROWING: Duration = Duration::from_secs(5);

pub async fn read(mut body: Body, limit: usize) -> Result<Bytes, Problem> {
    if body.size_hint().lower() > limit as u64 {
        return Err(too_large(&mut body, limit).await);
    }
    let patience = if limit > LARGE { PATIENCE_IF_LARGE } else { PATIENCE };
    let collected = tokio::time::timeout(patience, Limited::new(&mut body, limit).collect()).await;
    match collected {
        Ok(Ok(collected)) => Ok(collected.to_bytes()),
        Ok(Err(error)) if error.is::<LengthLimitError>() => Err(too_large(&mut body, limit).await),
        Ok(Err(_)) => Err(Problem::Validation { field: None, message: "the request body broke off".to_owned() }),
        Err(_elapsed) => Err(Problem::TimedOut),
    }
}

async fn too_large(body: &mut Body, limit: usize) -> Problem {
    if body.size_hint().lower() <= THROWN_AWAY {
        // A client that takes longer than this has itself to blame.
        drop(tokio::time::timeout(THROWING, throw_away(body)).await);
    }
    let message = format!("the request is larger than {limit} bytes; send less, or link to the rest");
    Problem::InvalidField { field: "envelope".to_owned(), message }
}

async fn throw_away(body: &mut Body) {
    let mut thrown = 0;
    while let Some(Ok(frame)) = body.frame().await
        && thrown <= THROWN_AWAY
    {
        thrown += frame.data_ref().map_or(0, |data| data.len() as u64);
    }
}

/// For our own small calls. The A2H envelope has its own parser with its own errors.
pub async fn read_json<T: DeserializeOwned>(body: Body) -> Result<T, Problem> {
    const LIMIT: usize = 64 * 1024;
    let bytes = read(body, LIMIT).await?;
    let value = json::parse(&bytes)?;
    serde_json::from_value(value).map_err(|error| Problem::Validation { field: None, message: error.to_string() })
}
