//! The number of all items that wait, beyond the loaded rows. Events are only hints, so it is counted again after them.

use std::time::Duration;

use countersign_client::hub::ClientError;

use super::{Effect, HubLink, InboxState, Tab};

const COUNT_INTERVAL: Duration = Duration::from_secs(1);

#[derive(Debug, Default)]
pub struct WaitingTotal {
    count: Option<i64>,
    /// A change happened that the count misses.
    is_due: bool,
    is_asked: bool,
    asked_at: Duration,
}

impl WaitingTotal {
    pub fn mark_due(&mut self) {
        self.is_due = true;
    }

    /// From the hub. A page after the first one has none.
    pub fn set(&mut self, count: Option<i64>) {
        self.count = count.or(self.count);
    }
}

impl InboxState {
    /// How many items wait, whatever the filter; `None` if only the hub knows and has not said it.
    pub fn waiting_total(&self) -> Option<usize> {
        let list = self.list(Tab::Waiting);
        if self.is_all_loaded() {
            return Some(list.len());
        }
        let count = usize::try_from(self.total.count?).ok()?;
        Some(count.max(list.len()))
    }

    fn is_all_loaded(&self) -> bool {
        self.filter.is_empty() && !self.list(Tab::Waiting).has_more()
    }

    /// Counts again after a change, at most once in an interval.
    pub(super) fn recount(&mut self) -> Option<Effect> {
        let total = &self.total;
        let is_early = self.now.elapsed.saturating_sub(total.asked_at) < COUNT_INTERVAL;
        if !total.is_due || total.is_asked || is_early || self.link != HubLink::Live || self.is_all_loaded() {
            return None;
        }
        let total = &mut self.total;
        (total.is_due, total.is_asked, total.asked_at) = (false, true, self.now.elapsed);
        Some(Effect::Count)
    }

    /// A failed count is made up for by the next change or reload.
    pub(super) fn counted(&mut self, count: Result<Option<i64>, ClientError>) {
        self.total.is_asked = false;
        self.total.set(count.ok().flatten());
    }
}
