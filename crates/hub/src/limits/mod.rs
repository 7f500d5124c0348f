//! Bounds on what callers can hold at once: memory, sockets, connections.

pub mod connection_limit;
pub mod memory_budget;

use std::sync::Arc;

use connection_limit::ConnectionLimit;
use memory_budget::MemoryBudget;

/// Long-polls that the terminals of one person may hold at once.
const MAX_TERMINAL_WAITS: usize = 1000;
/// Run sockets of one person. On the hub's own machine every program without a token counts as the owner.
const MAX_RUN_SOCKETS: usize = 500;

pub struct Limits {
    pub memory: Arc<MemoryBudget>,
    pub terminal_waits: Arc<ConnectionLimit>,
    pub run_sockets: Arc<ConnectionLimit>,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            memory: Arc::default(),
            terminal_waits: ConnectionLimit::new(
                MAX_TERMINAL_WAITS,
                "terminals are already waiting in your name; stop some of them",
            ),
            run_sockets: ConnectionLimit::new(
                MAX_RUN_SOCKETS,
                "run sockets are already open in your name; close some of them",
            ),
        }
    }
}
