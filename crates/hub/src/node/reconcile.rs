//! Reconciliation for lost signals: a node that dies between its commit and its signal leaves waiters hanging on other
//! nodes. Recently resolved messages are read from the store, and those not yet announced here are announced.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use countersign_protocol::id::MessageId;
use countersign_protocol::time::Timestamp;
use countersign_store::ops::message::sweep::ResolvedSince;

use super::subscribe::resync_from_store;
use crate::Hub;
use crate::cluster::LiveChange;

const RECONCILE_INTERVAL: Duration = Duration::from_millis(700);
/// Longer than a round, and longer than a transaction takes between reading its timestamp and committing.
const LOOKBACK: Duration = Duration::from_secs(45);
const MAX_RESOLVED_ROWS: i64 = 10_000;
/// Beyond this number a full resync is cheaper than single events.
const MAX_INDIVIDUAL_EVENTS: usize = 500;

/// Runs until dropped. On an unshared store it stays pending.
pub async fn run(hub: Arc<Hub>) {
    if !hub.store.is_shared() {
        return std::future::pending().await;
    }
    let mut reconciler = Reconciler { hub, read_at: None };
    loop {
        tokio::time::sleep(RECONCILE_INTERVAL).await;
        if reconciler.hub.runs.registry.live() > 0 {
            reconciler.hub.runs.process_commands();
        }
        if reconciler.hub.messages.waiters.message_count() > 0 || reconciler.hub.live.has_listeners() {
            reconciler.reconcile().await;
        }
    }
}

struct Reconciler {
    hub: Arc<Hub>,
    /// Time of the last successful read.
    read_at: Option<Timestamp>,
}

impl Reconciler {
    async fn reconcile(&mut self) {
        let now = self.hub.store.clock().now();
        // A failed round leaves `read_at` alone, so the next round covers its time too.
        let since = self.read_at.map_or(now, |read_at| read_at.min(now)).minus(LOOKBACK);
        match self
            .hub
            .store
            .run(ResolvedSince {
                since,
                limit: MAX_RESOLVED_ROWS,
            })
            .await
        {
            Ok(found) => {
                self.read_at = Some(now);
                let is_truncated = found.len() >= usize::try_from(MAX_RESOLVED_ROWS).unwrap_or(usize::MAX)
                    && now.since(since) > LOOKBACK * 2;
                reconcile_resolved(&self.hub, found, is_truncated);
            }
            Err(error) => tracing::warn!(%error, "reconciliation with other nodes failed; retrying"),
        }
    }
}

/// Announces messages that the store has as resolved, leaving out those already announced here.
fn reconcile_resolved(hub: &Arc<Hub>, found: Vec<MessageId>, may_be_more: bool) {
    let unseen: HashSet<MessageId> = found.into_iter().filter(|id| hub.cluster.notified.insert(id)).collect();
    if unseen.is_empty() && !may_be_more {
        return;
    }
    notify_runs(hub, &unseen);
    if may_be_more || unseen.len() > MAX_INDIVIDUAL_EVENTS {
        resync_from_store(hub);
    }
    let is_individual = unseen.len() <= MAX_INDIVIDUAL_EVENTS;
    for id in unseen {
        hub.cue_waiters.cue_ended(&id);
        hub.messages.waiters.invalidate(&id);
        if is_individual {
            hub.live.publish_local(LiveChange::Resolved(id));
        }
    }
}

/// Matches by pending ask: the runs in memory know which messages they wait for.
fn notify_runs(hub: &Hub, resolved: &HashSet<MessageId>) {
    let now = hub.store.clock().now();
    for run in hub.runs.registry.all() {
        let pending: Vec<_> = run
            .lock()
            .pending
            .iter()
            .map(|pending| pending.message_id.clone())
            .collect();
        let ended = pending.iter().filter(|id| resolved.contains(id));
        ended.for_each(|id| run.resolved(id, now));
    }
}
