//! Response bodies for files, in chunks. A client that stops reading holds their bytes for a minute at most.

use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::Body;
use bytes::Bytes;
use http_body::{Frame, SizeHint};

use crate::limits::memory_budget::MemoryPermit;

const CHUNK_BYTES: usize = 64 * 1024;
/// Write time-outs close a stalled connection, but on HTTP/2 a single stream can stall while its connection does not.
const STALL_TIMEOUT: Duration = Duration::from_secs(60);

/// The permit is released when the last reference to the bytes is dropped.
pub fn chunked_body(body: Vec<u8>, permit: Option<MemoryPermit>) -> Body {
    let bytes = match permit {
        Some(permit) => Bytes::from_owner(BudgetedBytes { body, _permit: permit }),
        None => Bytes::from(body),
    };
    if bytes.len() <= CHUNK_BYTES {
        return Body::from(bytes);
    }
    let remaining = Arc::new(Mutex::new(Remaining { bytes, is_cut: false }));
    tokio::spawn(watch_for_stall(Arc::downgrade(&remaining)));
    Body::new(ChunkedBody { remaining })
}

struct BudgetedBytes {
    body: Vec<u8>,
    _permit: MemoryPermit,
}

impl AsRef<[u8]> for BudgetedBytes {
    fn as_ref(&self) -> &[u8] {
        &self.body
    }
}

struct Remaining {
    bytes: Bytes,
    is_cut: bool,
}

struct ChunkedBody {
    remaining: Arc<Mutex<Remaining>>,
}

fn lock(remaining: &Mutex<Remaining>) -> MutexGuard<'_, Remaining> {
    remaining.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Drops the remaining bytes when no chunk was read for `STALL_TIMEOUT`. Ends with the response.
async fn watch_for_stall(remaining: Weak<Mutex<Remaining>>) {
    let mut before = usize::MAX;
    loop {
        tokio::time::sleep(STALL_TIMEOUT).await;
        let Some(remaining) = remaining.upgrade() else { return };
        let mut remaining = lock(&remaining);
        if remaining.bytes.len() == before {
            (remaining.bytes, remaining.is_cut) = (Bytes::new(), true);
            return;
        }
        before = remaining.bytes.len();
    }
}

#[derive(Debug, thiserror::Error)]
#[error("the client stopped reading the response")]
pub struct SendStalled;

impl http_body::Body for ChunkedBody {
    type Data = Bytes;
    type Error = SendStalled;

    fn poll_frame(self: Pin<&mut Self>, _cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, SendStalled>>> {
        let mut remaining = lock(&self.remaining);
        if remaining.is_cut {
            return Poll::Ready(Some(Err(SendStalled)));
        }
        if remaining.bytes.is_empty() {
            return Poll::Ready(None);
        }
        let next = remaining.bytes.len().min(CHUNK_BYTES);
        Poll::Ready(Some(Ok(Frame::data(remaining.bytes.split_to(next)))))
    }

    fn is_end_stream(&self) -> bool {
        let remaining = lock(&self.remaining);
        remaining.bytes.is_empty() && !remaining.is_cut
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(lock(&self.remaining).bytes.len() as u64)
    }
}

#[cfg(test)]
mod tests {
    use http_body_util::BodyExt;

    use super::*;
    use crate::limits::memory_budget::MemoryBudget;

    fn file() -> Vec<u8> {
        (0..8 * 1024 * 1024).map(|index: u32| index.to_le_bytes()[1]).collect()
    }

    #[tokio::test]
    async fn file_arrives_whole_and_frees_its_permit() {
        let budget = MemoryBudget::default();
        for _ in 0..20 {
            let permit = budget.acquire("alice", file().len()).await.unwrap();
            assert_eq!(chunked_body(file(), permit).collect().await.unwrap().to_bytes(), file());
        }
    }

    #[tokio::test(start_paused = true)]
    async fn stalled_download_frees_its_permit() {
        let budget = MemoryBudget::default();
        let permit = budget.acquire("alice", 32 * 1024 * 1024).await.unwrap();
        let mut body = chunked_body(file(), permit);
        drop(body.frame().await.unwrap().unwrap());
        assert!(
            budget.acquire("alice", 32 * 1024 * 1024).await.is_err(),
            "the permit is held while the client may still read"
        );
        tokio::time::sleep(2 * STALL_TIMEOUT).await;
        assert!(budget.acquire("alice", 32 * 1024 * 1024).await.is_ok());
        assert!(
            body.frame().await.unwrap().is_err(),
            "and the client sees an error instead of a short file"
        );
    }

    #[tokio::test(start_paused = true)]
    async fn slow_client_gets_the_whole_file() {
        let mut body = chunked_body(vec![7; 40 * CHUNK_BYTES], None);
        let mut received = 0;
        while let Some(frame) = body.frame().await {
            received += frame.unwrap().into_data().unwrap().len();
            tokio::time::sleep(STALL_TIMEOUT / 2).await;
        }
        assert_eq!(received, 40 * CHUNK_BYTES);
    }
}
