//! What is written after the reply, in batches: the search index, receipts, and when agents were last seen.

pub mod agent_last_seen;
pub mod indexer;
pub mod receipts;

use std::sync::Arc;

use agent_last_seen::AgentLastSeen;
use countersign_store::Store;
use indexer::Indexer;
use receipts::Receipts;

use crate::live::LiveBroadcaster;

pub struct Background {
    pub indexer: Arc<Indexer>,
    pub receipts: Arc<Receipts>,
    pub agent_last_seen: Arc<AgentLastSeen>,
}

impl Background {
    pub fn new(store: &Arc<Store>, live: &Arc<LiveBroadcaster>) -> Self {
        Self {
            indexer: Arc::new(Indexer::new(Arc::clone(store))),
            receipts: Arc::new(Receipts::new(Arc::clone(store), Arc::clone(live))),
            agent_last_seen: Arc::new(AgentLastSeen::new(Arc::clone(store))),
        }
    }
}
