//! The net under what hubs say to each other: a hub that dies between its commit and its word leaves others waiting. What was
//! resolved a moment ago and not heard of is told here, to those who wait, look on or follow a run.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use countersign_protocol::id::MessageId;
use countersign_protocol::time::Timestamp;
use countersign_store::ops::sweep::ResolvedSince;

use super::letters;
use crate::app::Hub;
use crate::inbox::news::LiveChange;

const RECONCILE_INTERVAL: Duration = Duration::from_millis(700);
/// Longer than a round takes, and than a transaction between its instant and its commit.
const LOOKBACK: Duration = Duration::from_secs(45);
/// What was told stays known for as long as it may be found, also when a round is late.
pub const DEDUP_TTL: Duration = Duration::from_secs(120);
const MAX_RESOLVED_ROWS: i64 = 10_000;
/// More at once, and everybody looks at everything.
const MAX_INDIVIDUAL_EVENTS: usize = 500;

/// Runs until it is dropped; without peers it waits for ever.
pub async fn run(hub: Arc<Hub>) {
    if !hub.store.is_shared() {
        return std::future::pending().await;
    }
    let mut reconciler = Reconciler { hub, read_at: None };
    loop {
        tokio::time::sleep(RECONCILE_INTERVAL).await;
        if reconciler.hub.runs.live() > 0 {
            letters::process_pending(&reconciler.hub);
        }
        if reconciler.hub.waiters.message_count() > 0 || reconciler.hub.news.has_listeners() {
            reconciler.reconcile().await;
        }
    }
}

struct Reconciler {
    hub: Arc<Hub>,
    /// When it was last read, if nothing went wrong since.
    read_at: Option<Timestamp>,
}

impl Reconciler {
    async fn reconcile(&mut self) {
        let now = self.hub.store.clock().now();
        // What became of a round that failed is for the next one.
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
                self.hub.reconcile_resolved(found, is_truncated);
            }
            Err(error) => tracing::warn!(%error, "reconciliation with other hubs failed; retrying"),
        }
    }
}

impl Hub {
    /// What the store says is over. Of what was heard of already nobody is told again.
    fn reconcile_resolved(self: &Arc<Self>, found: Vec<MessageId>, may_be_more: bool) {
        let unseen: HashSet<MessageId> = found
            .into_iter()
            .filter(|id| self.cluster.notified.insert(id))
            .collect();
        if unseen.is_empty() && !may_be_more {
            return;
        }
        self.notify_runs(&unseen);
        if may_be_more || unseen.len() > MAX_INDIVIDUAL_EVENTS {
            self.resync_from_store();
        }
        let is_individual = unseen.len() <= MAX_INDIVIDUAL_EVENTS;
        for id in unseen {
            self.cue_waiters.cue_ended(&id);
            self.waiters.invalidate(&id);
            if is_individual {
                self.news.publish_local(LiveChange::Resolved(id));
            }
        }
    }

    /// Which run asked does not matter: those that wait here know what for.
    fn notify_runs(&self, resolved: &HashSet<MessageId>) {
        let now = self.store.clock().now();
        for run in self.runs.all() {
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
}
