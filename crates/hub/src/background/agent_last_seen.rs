//! When each agent last called. Calls are recorded in memory and flushed to the store in batches.

use std::collections::HashMap;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, PoisonError, RwLock};
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
    agents: RwLock<HashMap<String, LastSeen>>,
}

struct LastSeen {
    /// In milliseconds, like `stored_at`.
    seen_at: AtomicI64,
    stored_at: AtomicI64,
}

impl AgentLastSeen {
    pub fn new(store: Arc<Store>) -> Self {
        Self {
            store,
            agents: RwLock::default(),
        }
    }

    pub fn record(&self, agent_id: &str, now: Timestamp) {
        let agents = self.agents.read().unwrap_or_else(PoisonError::into_inner);
        if let Some(last_seen) = agents.get(agent_id) {
            last_seen.seen_at.store(now.as_millis(), Ordering::Relaxed);
            return;
        }
        drop(agents);
        let last_seen = LastSeen {
            seen_at: now.as_millis().into(),
            stored_at: AtomicI64::new(i64::MIN),
        };
        self.agents
            .write()
            .unwrap_or_else(PoisonError::into_inner)
            .insert(agent_id.to_owned(), last_seen);
    }

    /// `None` for an agent that has not called since this process started.
    pub fn get(&self, agent_id: &str) -> Option<Timestamp> {
        let agents = self.agents.read().unwrap_or_else(PoisonError::into_inner);
        agents
            .get(agent_id)
            .map(|last_seen| Timestamp::from_millis(last_seen.seen_at.load(Ordering::Relaxed)))
    }

    /// Stores the entries that changed since the last flush.
    pub async fn flush(&self) -> Result<(), StoreError> {
        let seen = self.unstored();
        if seen.is_empty() {
            return Ok(());
        }
        self.store.run(RecordSeen { seen: seen.clone() }).await?;
        let agents = self.agents.read().unwrap_or_else(PoisonError::into_inner);
        for (agent_id, seen_at) in &seen {
            if let Some(last_seen) = agents.get(agent_id) {
                last_seen.stored_at.store(seen_at.as_millis(), Ordering::Relaxed);
            }
        }
        Ok(())
    }

    fn unstored(&self) -> Vec<(String, Timestamp)> {
        let agents = self.agents.read().unwrap_or_else(PoisonError::into_inner);
        let both = agents.iter().map(|(agent_id, last_seen)| {
            (
                agent_id,
                last_seen.seen_at.load(Ordering::Relaxed),
                last_seen.stored_at.load(Ordering::Relaxed),
            )
        });
        let changed = both.filter(|(_, seen_at, stored_at)| seen_at > stored_at);
        changed
            .map(|(agent_id, seen_at, _)| (agent_id.clone(), Timestamp::from_millis(seen_at)))
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
