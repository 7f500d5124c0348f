//! When each agent last called. Calls are recorded in memory and flushed to the store in batches.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use countersign_protocol::time::Timestamp;
use countersign_store::ops::last_seen::{AgentSeen, RecordSeen};
use countersign_store::{Store, StoreError};

const FLUSH_INTERVAL: Duration = Duration::from_secs(60);
/// Shorter, because other nodes read it from the shared store.
const SHARED_STORE_FLUSH_INTERVAL: Duration = Duration::from_secs(5);

/// Bounded by the number of agents, because only authenticated ones are recorded.
pub struct AgentLastSeen {
    store: Arc<Store>,
    agents: Mutex<HashMap<String, LastSeen>>,
}

struct LastSeen {
    seen_at: Timestamp,
    is_stored: bool,
}

impl LastSeen {
    fn new(seen_at: Timestamp) -> Self {
        let is_stored = false;
        Self { seen_at, is_stored }
    }
}

impl AgentLastSeen {
    pub fn new(store: Arc<Store>) -> Self {
        Self {
            store,
            agents: Mutex::default(),
        }
    }

    pub fn record(&self, agent_id: &str, seen_at: Timestamp) {
        let mut agents = self.lock();
        match agents.get_mut(agent_id) {
            Some(known) => *known = LastSeen::new(seen_at),
            None => drop(agents.insert(agent_id.to_owned(), LastSeen::new(seen_at))),
        }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, LastSeen>> {
        self.agents.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// `None` for an agent that has not called since this process started.
    pub fn get(&self, agent_id: &str) -> Option<Timestamp> {
        self.lock().get(agent_id).map(|last_seen| last_seen.seen_at)
    }

    /// Stores the entries that changed since the last flush.
    pub async fn flush(&self) -> Result<(), StoreError> {
        let seen = self.unstored();
        if seen.is_empty() {
            return Ok(());
        }
        self.store.run(RecordSeen { seen: seen.clone() }).await?;
        let mut agents = self.lock();
        for (agent_id, seen_at) in &seen {
            if let Some(last_seen) = agents.get_mut(agent_id) {
                last_seen.is_stored = last_seen.seen_at == *seen_at;
            }
        }
        Ok(())
    }

    fn unstored(&self) -> Vec<(String, Timestamp)> {
        let agents = self.lock();
        let changed = agents.iter().filter(|(_, last_seen)| !last_seen.is_stored);
        changed
            .map(|(agent_id, last_seen)| (agent_id.clone(), last_seen.seen_at))
            .collect()
    }

    /// When an agent last called, at this process, at another node or before.
    pub async fn seen_at(&self, agent_id: &str) -> Result<Option<Timestamp>, StoreError> {
        match self.get(agent_id) {
            Some(seen_at) if !self.store.is_shared() => Ok(Some(seen_at)),
            here => Ok(here.max(
                self.store
                    .run(AgentSeen {
                        id: agent_id.to_owned(),
                    })
                    .await?,
            )),
        }
    }

    /// Flushes until the future is dropped.
    pub async fn run(self: Arc<Self>) {
        let interval = if self.store.is_shared() {
            SHARED_STORE_FLUSH_INTERVAL
        } else {
            FLUSH_INTERVAL
        };
        loop {
            tokio::time::sleep(interval).await;
            if let Err(error) = self.flush().await {
                tracing::warn!(%error, "storing the last-seen times of agents failed; retrying");
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing;

    #[test]
    fn last_call_wins_and_waits_to_be_stored() {
        let seen = AgentLastSeen::new(testing::store());
        let at = Timestamp::from_millis;
        assert_eq!(seen.get("bot"), None);
        seen.record("bot", at(1000));
        seen.record("bot", at(2000));
        assert_eq!(seen.get("bot"), Some(at(2000)));
        assert_eq!(seen.unstored(), [("bot".to_owned(), at(2000))]);
    }
}
