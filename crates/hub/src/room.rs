//! How much of large bodies and of files is in memory at once, of everybody together and of each caller. What is small is not
//! counted: it is gone before it could add up.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::problem::Problem;

/// What is at least so large is counted, and is worked on where it holds up nobody else.
pub const LARGE: usize = 256 * 1024;
const ROOM: usize = 128 * 1024 * 1024;
/// More than the largest answer with files, so that one caller can send that, and leaves room for others.
const ROOM_OF_A_CALLER: usize = 32 * 1024 * 1024;
const PATIENCE: Duration = Duration::from_secs(10);
const RETRY_AFTER_SECONDS: u64 = 5;

pub struct Room {
    everybodys: Arc<Semaphore>,
    /// Of callers who have something here now.
    callers: Mutex<HashMap<String, Weak<Semaphore>>>,
}

/// A place for so many bytes, for as long as they are held.
pub struct Hold {
    _own: OwnedSemaphorePermit,
    _everybodys: OwnedSemaphorePermit,
}

impl Default for Room {
    fn default() -> Self {
        Self {
            everybodys: Arc::new(Semaphore::new(ROOM)),
            callers: Mutex::default(),
        }
    }
}

impl Room {
    /// Waits a while for others to be done. What is small needs no place.
    pub async fn take(&self, caller: &str, bytes: usize) -> Result<Option<Hold>, Problem> {
        if bytes < LARGE {
            return Ok(None);
        }
        let own = self.of(caller);
        let taking = async {
            let _own = own.acquire_many_owned(places(bytes, ROOM_OF_A_CALLER)).await.ok()?;
            let _everybodys = Arc::clone(&self.everybodys)
                .acquire_many_owned(places(bytes, ROOM))
                .await
                .ok()?;
            Some(Hold { _own, _everybodys })
        };
        match tokio::time::timeout(PATIENCE, taking).await {
            Ok(Some(hold)) => Ok(Some(hold)),
            Ok(None) | Err(_) => Err(Problem::RateLimited {
                retry_after_seconds: RETRY_AFTER_SECONDS,
                message: "too much is being sent and fetched at once; wait as long as Retry-After says".to_owned(),
            }),
        }
    }

    fn of(&self, caller: &str) -> Arc<Semaphore> {
        let mut callers = self.callers.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = callers.get(caller).and_then(Weak::upgrade) {
            return known;
        }
        callers.retain(|_, room| room.strong_count() > 0);
        let room = Arc::new(Semaphore::new(ROOM_OF_A_CALLER));
        callers.insert(caller.to_owned(), Arc::downgrade(&room));
        room
    }
}

/// What is larger than all there is takes all there is.
fn places(bytes: usize, most: usize) -> u32 {
    u32::try_from(bytes.min(most)).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: usize = 1024 * 1024;

    #[tokio::test(start_paused = true)]
    async fn whoever_has_much_in_hand_waits_and_is_refused_and_others_are_not() {
        let room = Room::default();
        let held = room.take("alice", 28 * MIB).await.unwrap();
        assert!(held.is_some());
        assert!(matches!(
            room.take("alice", 8 * MIB).await,
            Err(Problem::RateLimited { .. })
        ));
        assert!(
            room.take("alice", LARGE - 1).await.unwrap().is_none(),
            "what is small always fits"
        );
        assert!(room.take("bob", 28 * MIB).await.is_ok());
        drop(held);
        assert!(room.take("alice", 8 * MIB).await.is_ok());
        assert!(
            room.take("carol", 200 * MIB).await.is_ok(),
            "what is too large for the room has it alone"
        );
        assert!(room.callers.lock().unwrap().len() <= 2, "who has left is forgotten");
    }

    #[tokio::test(start_paused = true)]
    async fn all_together_have_so_much_and_no_more() {
        let room = Room::default();
        let mut held = Vec::new();
        for caller in ["a", "b", "c", "d"] {
            held.push(room.take(caller, 32 * MIB).await.unwrap());
        }
        assert!(room.take("e", MIB).await.is_err());
        let (taken, ()) = tokio::join!(room.take("e", MIB), async { drop(held.pop()) });
        assert!(taken.is_ok(), "whoever waits gets the place of who leaves");
    }
}
