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
use crate::inbox::news::Change;

const ROUND: Duration = Duration::from_millis(700);
/// Longer than a round takes, and than a transaction between its instant and its commit.
const WINDOW: Duration = Duration::from_secs(45);
/// What was told stays known for as long as it may be found, also when a round is late.
pub const KNOWN_FOR: Duration = Duration::from_secs(120);
const MOST: i64 = 10_000;
/// More at once, and everybody looks at everything.
const MOST_BY_NAME: usize = 500;

/// Runs until it is dropped; without peers it waits for ever.
pub async fn run(hub: Arc<Hub>) {
    if !hub.store.is_shared() {
        return std::future::pending().await;
    }
    let mut net = Net { hub, read_at: None };
    loop {
        tokio::time::sleep(ROUND).await;
        if net.hub.runs.live() > 0 {
            letters::open(&net.hub);
        }
        if net.hub.wake.waited_for() > 0 || net.hub.news.is_heard() {
            net.cast().await;
        }
    }
}

struct Net {
    hub: Arc<Hub>,
    /// When it was last read, if nothing went wrong since.
    read_at: Option<Timestamp>,
}

impl Net {
    async fn cast(&mut self) {
        let now = self.hub.store.clock().now();
        // What became of a round that failed is for the next one.
        let since = self.read_at.map_or(now, |read_at| read_at.min(now)).minus(WINDOW);
        match self.hub.store.run(ResolvedSince { since, limit: MOST }).await {
            Ok(found) => {
                self.read_at = Some(now);
                let is_cut =
                    found.len() >= usize::try_from(MOST).unwrap_or(usize::MAX) && now.since(since) > WINDOW * 2;
                self.hub.was_resolved(found, is_cut);
            }
            Err(error) => tracing::warn!(%error, "what other hubs resolved could not be read"),
        }
    }
}

impl Hub {
    /// What the store says is over. Of what was heard of already nobody is told again.
    fn was_resolved(self: &Arc<Self>, found: Vec<MessageId>, may_be_more: bool) {
        let unheard: HashSet<MessageId> = found.into_iter().filter(|id| self.peers.resolved.note(id)).collect();
        if unheard.is_empty() && !may_be_more {
            return;
        }
        self.runs_heard(&unheard);
        if may_be_more || unheard.len() > MOST_BY_NAME {
            self.look_again();
        }
        let is_told = unheard.len() <= MOST_BY_NAME;
        for id in unheard {
            self.terminals.end(&id);
            self.wake.look(&id);
            if is_told {
                self.news.tell_here(Change::Resolved(id));
            }
        }
    }

    /// Which run asked does not matter: those that wait here know what for.
    fn runs_heard(&self, resolved: &HashSet<MessageId>) {
        let now = self.store.clock().now();
        for run in self.runs.all() {
            let waits_for: Vec<_> = run
                .lock()
                .pending
                .iter()
                .map(|pending| pending.message_id.clone())
                .collect();
            let over = waits_for.iter().filter(|id| resolved.contains(id));
            over.for_each(|id| run.resolved(id, now));
        }
    }
}
