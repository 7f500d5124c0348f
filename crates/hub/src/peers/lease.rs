//! This process as a node of its store: it renews its lease, and takes over from those who did not.

use std::sync::Arc;
use std::time::{Duration, Instant};

use countersign_store::StoreError;
use countersign_store::ops::node::{LeaveNode, Others, RenewNode, TakeOver, TakenOver};

use crate::app::Hub;
use crate::runs;

const ROUND: Duration = Duration::from_secs(1);
/// From the last sign of life until others take over.
const LEASE: Duration = Duration::from_secs(4);
/// Nobody else is there to notice.
const ALONE: Duration = Duration::from_secs(100 * 365 * 24 * 3600);
/// In so many rounds even what nobody has is looked for whose node went unnoticed.
const THOROUGH: u32 = 30;
/// Runs at once.
const MOST: i64 = 200;

/// Before anything is claimed, and before anybody can connect: what an earlier process left is taken up.
pub async fn enter(hub: &Arc<Hub>) -> Result<(), StoreError> {
    renew(hub).await?;
    take_over(hub, true, others(hub, Instant::now())).await
}

/// At the end of a clean stop.
pub async fn leave(hub: &Hub) -> Result<(), StoreError> {
    hub.store.run(LeaveNode { id: hub.store.node() }).await
}

/// Runs until it is dropped; without peers it waits for ever.
pub async fn run(hub: Arc<Hub>) {
    if !hub.store.is_shared() {
        return std::future::pending().await;
    }
    let (mut round, mut since) = (0, Instant::now());
    let mut renewed_at = since;
    loop {
        tokio::time::sleep(ROUND).await;
        round += 1;
        match beat(&hub, round % THOROUGH == 0, since).await {
            Ok(()) => renewed_at = Instant::now(),
            Err(error) => tracing::warn!(%error, "the lease of this hub could not be renewed"),
        }
        if renewed_at.elapsed() > LEASE / 2 {
            since = Instant::now();
        }
    }
}

/// After a start, and after the database was away, everybody gets the time for a sign of life.
fn others(hub: &Hub, since: Instant) -> Others {
    match hub.store.is_shared() {
        true if since.elapsed() < LEASE => Others::MayComeBack,
        true => Others::Live,
        false => Others::AreGone,
    }
}

async fn beat(hub: &Arc<Hub>, is_thorough: bool, since: Instant) -> Result<(), StoreError> {
    let is_still_itself = renew(hub).await?;
    if !is_still_itself {
        tracing::warn!("this hub was silent for so long that others took over from it");
        begin_anew(hub).await?;
    }
    take_over(hub, is_thorough || !is_still_itself, others(hub, since)).await
}

/// Under another id: what it had is others' now, or soon will be.
async fn begin_anew(hub: &Arc<Hub>) -> Result<(), StoreError> {
    leave(hub).await?;
    hub.store.become_another_node()?;
    renew(hub).await?;
    hub.renew_start_credentials().await?;
    hub.runs.moved_away();
    hub.look_at_everything();
    Ok(())
}

/// Says whether what this process had is still its own.
async fn renew(hub: &Hub) -> Result<bool, StoreError> {
    let lease = if hub.store.is_shared() { LEASE } else { ALONE };
    hub.store.run(RenewNode { id: hub.store.node(), lease }).await
}

async fn take_over(hub: &Arc<Hub>, thorough: bool, others: Others) -> Result<(), StoreError> {
    // Runs that this hub may not move are left to others.
    let limit = if hub.config.runs.enabled { MOST } else { 0 };
    let mut thorough = thorough;
    loop {
        let op = TakeOver { node: hub.store.node(), others, thorough, limit };
        let TakenOver { removed, hosts, runs } = hub.store.run(op).await?;
        hosts.iter().for_each(|host| hub.outbox.wake(host));
        let (count, is_all) = (runs.len(), runs.len() < usize::try_from(limit).unwrap_or(0).max(1));
        runs::restore(hub, runs).await?;
        if !removed.is_empty() && hub.store.is_shared() {
            tracing::warn!(nodes = removed.len(), runs = count, "took over from hubs that are gone");
            hub.found_gone(&removed);
        }
        if is_all {
            return Ok(());
        }
        thorough = true;
    }
}
