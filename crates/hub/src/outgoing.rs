//! Files on their way out, in pieces: whoever does not take them holds their bytes for a minute and no longer.

use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::Body;
use bytes::Bytes;
use http_body::{Frame, SizeHint};

use crate::room::Hold;

const PIECE: usize = 64 * 1024;
/// A connection that takes nothing is cut elsewhere. Of several that share one, each may still refuse to take its own.
const STALL: Duration = Duration::from_secs(60);

/// Its place in the room is given back with the last of its bytes, wherever they are by then.
pub fn in_pieces(body: Vec<u8>, hold: Option<Hold>) -> Body {
    let bytes = match hold {
        Some(hold) => Bytes::from_owner(Held { body, _hold: hold }),
        None => Bytes::from(body),
    };
    if bytes.len() <= PIECE {
        return Body::from(bytes);
    }
    let left = Arc::new(Mutex::new(Left { bytes, is_cut: false }));
    tokio::spawn(watch(Arc::downgrade(&left)));
    Body::new(Pieces { left })
}

struct Held {
    body: Vec<u8>,
    _hold: Hold,
}

impl AsRef<[u8]> for Held {
    fn as_ref(&self) -> &[u8] {
        &self.body
    }
}

struct Left {
    bytes: Bytes,
    is_cut: bool,
}

struct Pieces {
    left: Arc<Mutex<Left>>,
}

fn lock(left: &Mutex<Left>) -> MutexGuard<'_, Left> {
    left.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Ends with the reply. What was not asked for in time is let go of.
async fn watch(left: Weak<Mutex<Left>>) {
    let mut before = usize::MAX;
    loop {
        tokio::time::sleep(STALL).await;
        let Some(left) = left.upgrade() else { return };
        let mut left = lock(&left);
        if left.bytes.len() == before {
            (left.bytes, left.is_cut) = (Bytes::new(), true);
            return;
        }
        before = left.bytes.len();
    }
}

#[derive(Debug, thiserror::Error)]
#[error("nobody took the rest in time")]
pub struct NotTaken;

impl http_body::Body for Pieces {
    type Data = Bytes;
    type Error = NotTaken;

    fn poll_frame(self: Pin<&mut Self>, _cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, NotTaken>>> {
        let mut left = lock(&self.left);
        if left.is_cut {
            return Poll::Ready(Some(Err(NotTaken)));
        }
        if left.bytes.is_empty() {
            return Poll::Ready(None);
        }
        let next = left.bytes.len().min(PIECE);
        Poll::Ready(Some(Ok(Frame::data(left.bytes.split_to(next)))))
    }

    fn is_end_stream(&self) -> bool {
        let left = lock(&self.left);
        left.bytes.is_empty() && !left.is_cut
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(lock(&self.left).bytes.len() as u64)
    }
}

#[cfg(test)]
mod tests {
    use http_body_util::BodyExt;

    use super::*;
    use crate::room::Room;

    fn file() -> Vec<u8> {
        (0..8 * 1024 * 1024).map(|place: u32| place.to_le_bytes()[1]).collect()
    }

    #[tokio::test]
    async fn it_arrives_whole_and_gives_its_place_back() {
        let room = Room::default();
        for _ in 0..20 {
            let hold = room.take("alice", file().len()).await.unwrap();
            assert_eq!(in_pieces(file(), hold).collect().await.unwrap().to_bytes(), file());
        }
    }

    #[tokio::test(start_paused = true)]
    async fn what_nobody_takes_is_let_go_of() {
        let room = Room::default();
        let hold = room.take("alice", 32 * 1024 * 1024).await.unwrap();
        let mut body = in_pieces(file(), hold);
        drop(body.frame().await.unwrap().unwrap());
        assert!(
            room.take("alice", 32 * 1024 * 1024).await.is_err(),
            "it is held while it may be taken"
        );
        tokio::time::sleep(2 * STALL).await;
        assert!(room.take("alice", 32 * 1024 * 1024).await.is_ok());
        assert!(
            body.frame().await.unwrap().is_err(),
            "and the reader sees that something is missing"
        );
    }

    #[tokio::test(start_paused = true)]
    async fn whoever_is_slow_gets_all_of_it() {
        let mut body = in_pieces(vec![7; 40 * PIECE], None);
        let mut taken = 0;
        while let Some(frame) = body.frame().await {
            taken += frame.unwrap().into_data().unwrap().len();
            tokio::time::sleep(STALL / 2).await;
        }
        assert_eq!(taken, 40 * PIECE);
    }
}
