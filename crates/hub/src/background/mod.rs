//! Work beside the requests: expiry and retention, the search index, receipts, and when agents were last seen.

pub mod agent_last_seen;
pub mod indexer;
pub mod receipts;
pub mod timers;
