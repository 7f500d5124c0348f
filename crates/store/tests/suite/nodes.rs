//! Test fixtures: hub processes on one store.

use std::time::Duration;

use countersign_store::Store;
use countersign_store::ops::node::{GoneNodes, LeaveNode, RegisterNode, RenewNode, TakeOver};
use countersign_store::ops::run::{AdoptRuns, Run};

use crate::scene::NO_LIMIT;

/// The owner of the runs and claims in most behaviours.
pub const NODE: &str = "node-1";
pub const OTHER: &str = "node-2";
/// Ends at 1000, counted from the start of a fresh store.
pub const NODE_LEASE: Duration = Duration::from_secs(1);

/// Returns whether the node still exists.
pub async fn renew(store: &Store, node: &str) -> bool {
    store
        .run(RenewNode {
            id: node.to_owned(),
            lease: NODE_LEASE,
        })
        .await
        .unwrap()
}

pub async fn enter(store: &Store, nodes: &[&str]) {
    for node in nodes {
        store
            .run(RegisterNode {
                id: (*node).to_owned(),
                lease: NODE_LEASE,
            })
            .await
            .unwrap();
    }
}

pub async fn leave(store: &Store, node: &str) {
    store.run(LeaveNode { id: node.to_owned() }).await.unwrap();
}

/// A take-over, followed by the adoption of at most `limit` orphaned runs.
#[derive(Clone)]
pub struct TakeOverRequest {
    pub node: String,
    pub others: GoneNodes,
    pub thorough: bool,
    pub limit: i64,
}

/// The result of a take-over.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct TakeOverResult {
    pub removed: Vec<String>,
    pub hosts: Vec<String>,
    pub runs: Vec<Run>,
}

/// A routine take-over by a node among live ones.
pub fn look(node: &str) -> TakeOverRequest {
    TakeOverRequest {
        node: node.to_owned(),
        others: GoneNodes::LeaseExpired,
        thorough: false,
        limit: NO_LIMIT,
    }
}

/// A thorough take-over.
pub fn search(node: &str) -> TakeOverRequest {
    TakeOverRequest {
        thorough: true,
        ..look(node)
    }
}

/// A take-over by the only node.
pub fn start_alone(node: &str) -> TakeOverRequest {
    TakeOverRequest {
        others: GoneNodes::All,
        ..search(node)
    }
}

/// As a hub does it: runs are adopted only if there may be orphans. It also renews the node's lease.
pub async fn take_over(store: &Store, request: TakeOverRequest) -> TakeOverResult {
    let TakeOverRequest {
        node,
        others,
        thorough,
        limit,
    } = request;
    let op = TakeOver {
        node: node.clone(),
        lease: NODE_LEASE,
        others,
        thorough,
    };
    let found = store.run(op).await.unwrap().expect("the node is there");
    let is_worth_a_look = thorough || !found.removed.is_empty();
    let limit = if is_worth_a_look { limit } else { 0 };
    let runs = store.run(AdoptRuns { node, limit }).await.unwrap().runs;
    TakeOverResult {
        removed: found.removed,
        hosts: found.hosts,
        runs,
    }
}

pub fn run_ids(runs: &[Run]) -> Vec<&str> {
    runs.iter().map(|run| run.summary.run_id.as_str()).collect()
}
