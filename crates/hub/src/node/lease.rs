//! This process as a node of its store: renewing its own lease, and taking over from nodes whose lease ran out.

use std::sync::Arc;
use std::time::{Duration, Instant};

use countersign_runs::Adoption;
use countersign_store::StoreError;
use countersign_store::ops::node::{GoneNodes, LeaveNode, RegisterNode, RenewNode, TakeOver, TakenOver};
use tokio::sync::Notify;
use tokio::time::timeout;

use super::subscribe::{nodes_gone, resync_everything};
use crate::Hub;
use crate::cluster::LEASE;

const RENEW_INTERVAL: Duration = Duration::from_secs(1);
/// Delay after a renewal that failed.
const RETRY_DELAY: Duration = Duration::from_millis(200);
/// On an unshared store there is no other node to take over, so the lease never runs out.
const UNSHARED_LEASE: Duration = Duration::from_secs(100 * 365 * 24 * 3600);
/// Every so many rounds, orphaned claims and runs are also searched for nodes whose removal went unnoticed.
const ROUNDS_PER_FULL_CHECK: u32 = 30;

/// Registers this node and adopts the work of an earlier process, before anything is claimed and clients can connect.
pub async fn enter(hub: &Arc<Hub>) -> Result<(), StoreError> {
    let enter = RegisterNode {
        id: hub.store.node(),
        lease: lease(hub),
    };
    hub.store.run(enter).await?;
    let mut adoption = Adoption::default();
    let adopting = async {
        take_over(hub, true, other_nodes(hub, Instant::now())).await?;
        adoption.adopt(&hub.runs).await
    };
    // Adopting many runs may take longer than a lease, so the lease is renewed meanwhile.
    tokio::select! {
        adopted = adopting => adopted,
        () = renew_until_dropped(hub) => Ok(()),
    }
}

/// Removes this node's row at the end of a clean stop.
pub async fn leave(hub: &Hub) -> Result<(), StoreError> {
    hub.store.run_with_priority(LeaveNode { id: hub.store.node() }).await
}

/// Runs until dropped. On an unshared store it stays pending.
pub async fn run(hub: Arc<Hub>) {
    if !hub.store.is_shared() {
        return std::future::pending().await;
    }
    let orphaned_runs = Notify::new();
    tokio::join!(
        maintain_lease(&hub, &orphaned_runs),
        adopt_orphaned_runs(&hub, &orphaned_runs)
    );
}

/// Renews the lease once per round. Nothing slow may run here: a late renewal means that others take over.
async fn maintain_lease(hub: &Arc<Hub>, orphaned_runs: &Notify) {
    let mut round = 0;
    let mut since = Instant::now();
    let mut is_member = true;
    loop {
        tokio::time::sleep(RENEW_INTERVAL).await;
        round += 1;
        if !is_member && !rejoin(hub).await {
            continue;
        }
        let is_thorough = round % ROUNDS_PER_FULL_CHECK == 0 || !is_member;
        is_member = true;
        // A stopping node adopts nothing new.
        if hub.process.is_stopping() {
            log_failure(hub, renew(hub).await);
            continue;
        }
        match take_over(hub, is_thorough, other_nodes(hub, since)).await {
            Ok(None) => {
                tracing::warn!(
                    node = hub.store.node(),
                    "lease lost: this node did not renew in time and other nodes took over its work"
                );
                // Agents still work on runs that belong to other nodes now; they are stopped before anything else.
                hub.runs.registry.release_all();
                is_member = false;
            }
            Ok(Some(TakenOver { was_late: true, .. })) => since = Instant::now(),
            Ok(Some(TakenOver { removed, .. })) if is_thorough || !removed.is_empty() => orphaned_runs.notify_one(),
            Ok(Some(_)) => {}
            Err(error) => {
                if matches!(error, StoreError::CommitUnknown(_)) {
                    // The take-over may have been committed, so orphaned runs are searched for.
                    orphaned_runs.notify_one();
                }
                log_failure(hub, Err(error));
                tokio::time::sleep(RETRY_DELAY).await;
                // If this renewal fails too, the next round logs it.
                drop(renew(hub).await);
            }
        }
    }
}

/// Runs beside the lease renewal, because adopting many runs takes a while.
async fn adopt_orphaned_runs(hub: &Arc<Hub>, orphaned_runs: &Notify) {
    let mut adoption = Adoption::default();
    let mut must_check_again = false;
    loop {
        match must_check_again {
            true => drop(timeout(RENEW_INTERVAL, orphaned_runs.notified()).await),
            false => orphaned_runs.notified().await,
        }
        if let Err(error) = adoption.adopt(&hub.runs).await {
            tracing::warn!(%error, "adopting orphaned runs failed; retrying");
        }
        must_check_again = adoption.adopt_forgotten(&hub.runs).await;
    }
}

/// Renews the lease until dropped.
async fn renew_until_dropped(hub: &Hub) {
    loop {
        tokio::time::sleep(RENEW_INTERVAL).await;
        log_failure(hub, renew(hub).await);
    }
}

fn log_failure(hub: &Hub, renewed: Result<(), StoreError>) {
    if let Err(error) = renewed {
        tracing::warn!(node = hub.store.node(), %error, "renewing the lease of this node failed");
    }
}

/// After a start or a database outage, other nodes get one lease of grace to renew.
fn other_nodes(hub: &Hub, since: Instant) -> GoneNodes {
    match hub.store.is_shared() {
        true if since.elapsed() < LEASE => GoneNodes::Departed,
        true => GoneNodes::LeaseExpired,
        false => GoneNodes::All,
    }
}

/// Registers under a new node id, because the work of the old id belongs to other nodes now. Returns false if it has to
/// be tried again.
async fn rejoin(hub: &Arc<Hub>) -> bool {
    let rejoined = async {
        hub.store.renew_node_id()?;
        hub.store
            .run_with_priority(RegisterNode {
                id: hub.store.node(),
                lease: LEASE,
            })
            .await?;
        hub.auth.renew_start_credentials().await
    };
    match rejoined.await {
        Ok(()) => {
            hub.process.write_node_file(&hub.store.node());
            resync_everything(hub);
            true
        }
        Err(error) => {
            tracing::warn!(node = hub.store.node(), %error, "registering this node under a new id failed; retrying");
            false
        }
    }
}

fn lease(hub: &Hub) -> Duration {
    if hub.store.is_shared() { LEASE } else { UNSHARED_LEASE }
}

async fn renew(hub: &Hub) -> Result<(), StoreError> {
    hub.store
        .run_with_priority(RenewNode {
            id: hub.store.node(),
            lease: lease(hub),
        })
        .await
        .map(drop)
}

/// Returns `None` if other nodes have removed this one.
async fn take_over(hub: &Arc<Hub>, thorough: bool, other_nodes: GoneNodes) -> Result<Option<TakenOver>, StoreError> {
    let op = TakeOver {
        node: hub.store.node(),
        lease: lease(hub),
        others: other_nodes,
        thorough,
    };
    let Some(taken) = hub.store.run_with_priority(op).await? else {
        return Ok(None);
    };
    taken.hosts.iter().for_each(|host| hub.outbox.wake(host));
    if !taken.removed.is_empty() && hub.store.is_shared() {
        tracing::warn!(
            nodes = taken.removed.len(),
            removed = taken.removed.join(","),
            node = hub.store.node(),
            "took over from nodes whose lease ran out"
        );
        nodes_gone(hub, &taken.removed);
    }
    Ok(Some(taken))
}
