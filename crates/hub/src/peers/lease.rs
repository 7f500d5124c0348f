//! This process as a node of its store: it renews its lease, and takes over from those who did not.

use std::sync::Arc;
use std::time::{Duration, Instant};

use countersign_store::StoreError;
use countersign_store::ops::node::{EnterNode, LeaveNode, Others, RenewNode, TakeOver, TakenOver};
use tokio::sync::Notify;
use tokio::time::timeout;

use crate::app::Hub;
use crate::runs::Adoption;

/// From the last sign of life until others take over.
pub const LEASE: Duration = Duration::from_secs(4);
const ROUND: Duration = Duration::from_secs(1);
/// After a sign of life that the store did not take.
const BEFORE_ANOTHER_TRY: Duration = Duration::from_millis(200);
/// Nobody else is there to notice.
const ALONE: Duration = Duration::from_secs(100 * 365 * 24 * 3600);
/// In so many rounds even what nobody has is looked for whose node went unnoticed.
const THOROUGH: u32 = 30;

/// Before anything is claimed, and before anybody can connect: what an earlier process left is taken up.
pub async fn enter(hub: &Arc<Hub>) -> Result<(), StoreError> {
    let enter = EnterNode {
        id: hub.store.node(),
        lease: lease(hub),
    };
    hub.store.run(enter).await?;
    let mut adoption = Adoption::default();
    let taking_up = async {
        take_over(hub, true, others(hub, Instant::now())).await?;
        adoption.adopt(hub).await
    };
    // It may be much, and takes longer than a lease then.
    tokio::select! {
        taken_up = taking_up => taken_up,
        () = stay(hub) => Ok(()),
    }
}

/// At the end of a clean stop.
pub async fn leave(hub: &Hub) -> Result<(), StoreError> {
    hub.store.run_first(LeaveNode { id: hub.store.node() }).await
}

/// Runs until it is dropped; without peers it waits for ever.
pub async fn run(hub: Arc<Hub>) {
    if !hub.store.is_shared() {
        return std::future::pending().await;
    }
    let nobodys = Notify::new();
    tokio::join!(keep_lease(&hub, &nobodys), keep_runs(&hub, &nobodys));
}

/// Never does anything that takes long: whoever does not renew in time is taken over from.
async fn keep_lease(hub: &Arc<Hub>, nobodys: &Notify) {
    let mut round = 0;
    let mut since = Instant::now();
    let mut is_itself = true;
    loop {
        tokio::time::sleep(ROUND).await;
        round += 1;
        if !is_itself && !begins_anew(hub).await {
            continue;
        }
        let is_thorough = round % THOROUGH == 0 || !is_itself;
        is_itself = true;
        // Whoever stops takes nothing up any more.
        if *hub.stopping.borrow() {
            said(renew(hub).await);
            continue;
        }
        match take_over(hub, is_thorough, others(hub, since)).await {
            Ok(None) => {
                tracing::warn!("this hub was silent for so long that others took over from it");
                // Its agents are at work on what is others' now: that ends before anything else is tried.
                hub.runs.moved_away();
                is_itself = false;
            }
            Ok(Some(TakenOver { was_late: true, .. })) => since = Instant::now(),
            Ok(Some(TakenOver { removed, .. })) if is_thorough || !removed.is_empty() => nobodys.notify_one(),
            Ok(Some(_)) => {}
            Err(error) => {
                if matches!(error, StoreError::Unsure(_)) {
                    // It may have been done: then what was anybody's is to be looked for.
                    nobodys.notify_one();
                }
                said(Err(error));
                tokio::time::sleep(BEFORE_ANOTHER_TRY).await;
                // Should that fail too, the next round says so.
                drop(renew(hub).await);
            }
        }
    }
}

/// Beside the lease, because there may be many.
async fn keep_runs(hub: &Arc<Hub>, nobodys: &Notify) {
    let mut adoption = Adoption::default();
    let mut is_to_look_again = false;
    loop {
        match is_to_look_again {
            true => drop(timeout(ROUND, nobodys.notified()).await),
            false => nobodys.notified().await,
        }
        if let Err(error) = adoption.adopt(hub).await {
            tracing::warn!(%error, "runs that nobody moves could not be taken up");
        }
        is_to_look_again = adoption.take_up_forgotten(hub).await;
    }
}

/// Until it is dropped.
async fn stay(hub: &Hub) {
    loop {
        tokio::time::sleep(ROUND).await;
        said(renew(hub).await);
    }
}

fn said(renewed: Result<(), StoreError>) {
    if let Err(error) = renewed {
        tracing::warn!(%error, "the lease of this hub could not be renewed");
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

/// Under another id: what it had is others' now, or soon will be. Says whether it has; if not, it is to be tried again.
async fn begins_anew(hub: &Arc<Hub>) -> bool {
    let begun = async {
        hub.store.become_another_node()?;
        hub.store
            .run_first(EnterNode {
                id: hub.store.node(),
                lease: LEASE,
            })
            .await?;
        hub.renew_start_credentials().await
    };
    match begun.await {
        Ok(()) => {
            hub.note_node();
            hub.look_at_everything();
            true
        }
        Err(error) => {
            tracing::warn!(%error, "this hub cannot begin anew yet");
            false
        }
    }
}

fn lease(hub: &Hub) -> Duration {
    if hub.store.is_shared() { LEASE } else { ALONE }
}

async fn renew(hub: &Hub) -> Result<(), StoreError> {
    hub.store
        .run_first(RenewNode {
            id: hub.store.node(),
            lease: lease(hub),
        })
        .await
        .map(drop)
}

/// Nothing if others have taken over from this hub.
async fn take_over(hub: &Arc<Hub>, thorough: bool, others: Others) -> Result<Option<TakenOver>, StoreError> {
    let op = TakeOver {
        node: hub.store.node(),
        lease: lease(hub),
        others,
        thorough,
    };
    let Some(taken) = hub.store.run_first(op).await? else {
        return Ok(None);
    };
    taken.hosts.iter().for_each(|host| hub.outbox.wake(host));
    if !taken.removed.is_empty() && hub.store.is_shared() {
        tracing::warn!(nodes = taken.removed.len(), "took over from hubs that are gone");
        hub.found_gone(&taken.removed);
    }
    Ok(Some(taken))
}
