//! Keys that mark rows, and that begin a batch with the marked ones.

use std::sync::Arc;

use super::super::{Effect, InboxState, Overlay, Tab};
use super::{BatchAction, BatchDialog};
use crate::inbox_entry::InboxEntry;

/// As many as a batch on the web inbox takes.
const MAX_MARKED: usize = 200;

impl InboxState {
    /// The number of marked rows of the active tab.
    pub fn marked_count(&self) -> usize {
        self.list(self.tab).marked_count()
    }

    pub fn is_marked(&self, id: &str) -> bool {
        self.list(self.tab).is_marked(id)
    }

    /// Marks the row under the cursor, or clears its mark, and moves on.
    pub(in crate::state) fn mark_selected(&mut self) -> Vec<Effect> {
        let Some(id) = self.selected().map(|entry| entry.id().to_owned()) else {
            return Vec::new();
        };
        if !self.takes_marks() || !self.list(self.tab).is_settled(self.now.elapsed) {
            return Vec::new();
        }
        if self.marked_count() >= MAX_MARKED && !self.is_marked(&id) {
            self.hint(&format!("at most {MAX_MARKED} items at once"));
            return Vec::new();
        }
        let tab = self.tab;
        self.list_mut(tab).toggle_mark(&id);
        self.step(1)
    }

    /// Marks all shown rows; if all are marked, clears them.
    pub(in crate::state) fn mark_all(&mut self) {
        if !self.takes_marks() {
            return;
        }
        let tab = self.tab;
        let ids: Vec<String> = self.rows().iter().map(|entry| entry.id().to_owned()).collect();
        if ids.iter().all(|id| self.is_marked(id)) {
            return self.list_mut(tab).clear_marks();
        }
        let new: Vec<String> = ids.into_iter().filter(|id| !self.is_marked(id)).collect();
        let room = MAX_MARKED.saturating_sub(self.marked_count());
        if new.len() > room {
            self.hint(&format!("the first {MAX_MARKED} are selected; more do not go at once"));
        }
        for id in new.iter().take(room) {
            self.list_mut(tab).toggle_mark(id);
        }
    }

    fn takes_marks(&mut self) -> bool {
        let takes = matches!(self.tab, Tab::Waiting | Tab::Notices);
        if !takes {
            self.hint("items are selected in the lists Waiting and Notices");
        }
        takes
    }

    /// Asks once for all marked items, unless none of them fits.
    pub(in crate::state) fn begin_batch(&mut self, action: BatchAction) {
        if self.is_sending() {
            return self.hint("the last selection is still being sent");
        }
        match (self.tab, action) {
            (Tab::Waiting, BatchAction::Archive) => {
                return self.hint("only notices are archived; s snoozes these");
            }
            (Tab::Notices, BatchAction::Approve | BatchAction::Deny | BatchAction::Snooze) => {
                return self.hint("notices need no answer; e archives them");
            }
            _ => {}
        }
        let mut dialog = BatchDialog::new(action, self.presets.clone(), self.now.elapsed);
        for entry in self.list(self.tab).marked() {
            let title = entry.item.title.clone();
            match self.check_fits(&entry, action) {
                Ok(()) => dialog.included.push((entry.id().to_owned(), title)),
                Err(why) => dialog.left_out.push((title, why)),
            }
        }
        match (dialog.included.is_empty(), dialog.left_out.first()) {
            (false, _) => self.overlay = Some(Overlay::Batch(dialog)),
            (true, Some((title, why))) => {
                let hint = format!("nothing to {} here; {title}: {why}", action.in_words().word());
                self.hint(&hint);
            }
            (true, None) => {}
        }
    }

    /// The marked entry, as the list has it now.
    pub(super) fn marked_entry(&self, id: &str) -> Option<Arc<InboxEntry>> {
        [Tab::Waiting, Tab::Notices]
            .into_iter()
            .find_map(|tab| self.list(tab).entry(id))
    }
}
