//! Hub processes on one store, for the behaviours to act with.

use std::time::Duration;

use countersign_store::Store;
use countersign_store::ops::node::{LeaveNode, Others, RenewNode, TakeOver, TakenOver};
use countersign_store::ops::run::Run;

use crate::scene::NO_LIMIT;

/// Whose the runs and claims of most behaviours are.
pub const NODE: &str = "node-1";
pub const OTHER: &str = "node-2";
/// Until 1000, from the instant at which a fresh store begins.
pub const NODE_LEASE: Duration = Duration::from_secs(1);

/// Says whether it was there before.
pub async fn renew(store: &Store, node: &str) -> bool {
    store.run(RenewNode { id: node.to_owned(), lease: NODE_LEASE }).await.unwrap()
}

pub async fn enter(store: &Store, nodes: &[&str]) {
    for node in nodes {
        assert!(!renew(store, node).await, "{node} is new");
    }
}

pub async fn leave(store: &Store, node: &str) {
    store.run(LeaveNode { id: node.to_owned() }).await.unwrap();
}

/// For a node among others that live, which noticed nothing but the time.
pub fn look(node: &str) -> TakeOver {
    TakeOver { node: node.to_owned(), others: Others::Live, thorough: false, limit: NO_LIMIT }
}

/// For one that looks at everything.
pub fn search(node: &str) -> TakeOver {
    TakeOver { thorough: true, ..look(node) }
}

/// For the only one.
pub fn start_alone(node: &str) -> TakeOver {
    TakeOver { others: Others::AreGone, ..search(node) }
}

pub async fn take_over(store: &Store, take_over: TakeOver) -> TakenOver {
    store.run(take_over).await.unwrap()
}

pub fn run_ids(runs: &[Run]) -> Vec<&str> {
    runs.iter().map(|run| run.summary.run_id.as_str()).collect()
}
