//! Which agents have fetched their answers. A pull only leaves a note; one task writes the notes down together.

use std::collections::{HashSet, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use countersign_protocol::id::MessageId;
use countersign_store::StoreError;
use countersign_store::ops::fetched::RecordFetched;
use tokio::sync::Notify;

use crate::app::Hub;
use crate::inbox::news::Change;

/// Notes that are not written down yet; beyond that, a pull goes unnoted until the agent pulls again.
const MOST_NOTES: usize = 65_536;
/// So many in one turn of the writer, whom everybody shares.
const BATCH: usize = 128;
/// Time for others to come along.
const GATHER: Duration = Duration::from_millis(250);
const AFTER_AN_ERROR: Duration = Duration::from_millis(500);
/// How many ids are remembered twice over, so that an agent that pulls again causes no writing.
const REMEMBERED: usize = 4096;

#[derive(Default)]
pub struct Receipts {
    notes: Mutex<Notes>,
    bell: Notify,
}

#[derive(Default)]
struct Notes {
    waiting: VecDeque<MessageId>,
    known: Known,
}

/// Two generations: the older one is forgotten as a whole when the younger one is full.
#[derive(Default)]
struct Known {
    young: HashSet<MessageId>,
    old: HashSet<MessageId>,
}

impl Known {
    fn contains(&self, id: &MessageId) -> bool {
        self.young.contains(id) || self.old.contains(id)
    }

    fn insert(&mut self, id: MessageId) {
        if self.young.len() >= REMEMBERED {
            self.old = std::mem::take(&mut self.young);
        }
        self.young.insert(id);
    }
}

impl Receipts {
    /// The agent has its answer.
    pub fn note(&self, id: &MessageId) {
        let mut notes = self.lock();
        if notes.known.contains(id) || notes.waiting.len() >= MOST_NOTES {
            return;
        }
        notes.known.insert(id.clone());
        notes.waiting.push_back(id.clone());
        drop(notes);
        self.bell.notify_one();
    }

    fn take(&self) -> Vec<MessageId> {
        let mut notes = self.lock();
        let batch = notes.waiting.len().min(BATCH);
        notes.waiting.drain(..batch).collect()
    }

    fn give_back(&self, ids: Vec<MessageId>) {
        self.lock().waiting.extend(ids);
        self.bell.notify_one();
    }

    fn lock(&self) -> MutexGuard<'_, Notes> {
        self.notes.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Hub {
    /// Writes down everything that is noted, and tells those who look on what is new.
    pub async fn store_receipts(&self) -> Result<(), StoreError> {
        loop {
            let ids = self.receipts.take();
            if ids.is_empty() {
                return Ok(());
            }
            match self.store.run(RecordFetched { ids: ids.clone() }).await {
                Ok(recorded) => recorded.into_iter().for_each(|id| self.news.tell(Change::Tracked(id))),
                Err(error) => {
                    self.receipts.give_back(ids);
                    return Err(error);
                }
            }
        }
    }
}

/// Runs until it is dropped.
pub async fn run(hub: Arc<Hub>) {
    loop {
        hub.receipts.bell.notified().await;
        tokio::time::sleep(GATHER).await;
        if let Err(error) = hub.store_receipts().await {
            tracing::warn!(%error, "fetched answers could not be noted");
            tokio::time::sleep(AFTER_AN_ERROR).await;
        }
    }
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;

    fn id(number: usize) -> MessageId {
        MessageId::from_uuid(Uuid::from_u128(number as u128))
    }

    #[test]
    fn what_is_noted_already_is_not_noted_again() {
        let receipts = Receipts::default();
        receipts.note(&id(1));
        receipts.note(&id(1));
        assert_eq!(receipts.take(), [id(1)]);
        receipts.note(&id(1));
        assert_eq!(receipts.take(), []);
    }

    #[test]
    fn nothing_grows_without_end_and_nothing_is_lost_on_the_way() {
        let receipts = Receipts::default();
        (0..MOST_NOTES + 10).for_each(|number| receipts.note(&id(number)));
        let mut taken = HashSet::new();
        loop {
            let batch = receipts.take();
            assert!(batch.len() <= BATCH);
            if batch.is_empty() {
                break;
            }
            taken.extend(batch);
        }
        assert_eq!(taken.len(), MOST_NOTES);
        let notes = receipts.lock();
        assert!(notes.known.young.len() + notes.known.old.len() <= 2 * REMEMBERED);
    }
}
