//! Replies from the hub.

use std::sync::Arc;

use countersign_client::hub::ClientError;

use super::open::ON_HOLD;
use super::{
    Effect, EntriesPage, InboxReply, InboxState, ItemEnding, Listing, Overlay, Severity, SnoozeAction, StatusMessage,
    Tab,
};
use crate::inbox_entry::InboxEntry;
use crate::local_time::time_label;

impl InboxState {
    pub(super) fn replied(&mut self, reply: InboxReply) -> Vec<Effect> {
        match reply {
            InboxReply::Loaded { listing, appends, page } => self.loaded(&listing, appends, page),
            InboxReply::Read { id, fresh, entry } => self.read(&id, fresh, entry),
            InboxReply::Resolved { id, status } => self.answered(&id, status),
            InboxReply::Undone { id, done } => self.undone(id, done),
            InboxReply::Put { id, away, done } => self.put_done(&id, &away, done),
            InboxReply::Retried { id, done } => match done {
                Ok(()) => {
                    self.show_info("the hub tries the delivery again");
                    vec![Effect::Read { id, fresh: false }]
                }
                Err(error) => self.report_error(&error),
            },
            InboxReply::Counted(count) => {
                self.counted(count);
                Vec::new()
            }
            InboxReply::Browsed(text) => {
                self.show_info(text);
                Vec::new()
            }
            InboxReply::Ahead { agent_id, text, done } => self.written_ahead(agent_id, &text, done),
            InboxReply::Presets(presets) => match presets {
                Ok(presets) => {
                    self.presets = presets;
                    Vec::new()
                }
                Err(error) => self.report_error(&error),
            },
        }
    }

    fn report_error(&mut self, error: &ClientError) -> Vec<Effect> {
        self.show_error(error.to_string());
        Vec::new()
    }

    fn loaded(&mut self, listing: &Listing, appends: bool, page: Result<EntriesPage, ClientError>) -> Vec<Effect> {
        let tab = listing.tab();
        let now = self.now.elapsed;
        // The reply belongs to an earlier search.
        let is_outdated = *listing != self.listing(tab);
        if let (Tab::Waiting, Ok(page)) = (tab, &page) {
            self.total.set(page.total);
        }
        match page {
            Ok(page) if !is_outdated => self.list_mut(tab).take(page, appends, now),
            Ok(_) => {
                self.list_mut(tab).failed();
                return self.reload(tab);
            }
            Err(error) => {
                self.list_mut(tab).failed();
                return self.report_error(&error);
            }
        }
        if self.list(tab).is_stale() {
            self.reload(tab)
        } else {
            Vec::new()
        }
    }

    fn read(&mut self, id: &str, fresh: bool, entry: Result<Arc<InboxEntry>, ClientError>) -> Vec<Effect> {
        if fresh {
            self.fresh_reads = self.fresh_reads.saturating_sub(1);
        }
        let is_open = self.open.as_ref().is_some_and(|open| open.id() == id);
        let mut effects = self.batch_read(id, entry.as_ref().ok());
        match entry {
            Ok(entry) => {
                self.list_mut(Tab::Waiting).renew(&entry);
                if is_open {
                    self.update_open(Arc::clone(&entry));
                }
                if fresh {
                    effects.extend(self.insert_new(entry));
                }
            }
            Err(error) if is_open => self.show_error(error.to_string()),
            Err(_) => {}
        }
        effects
    }

    /// If another person ends the item, the overlay closes and its text stays on screen.
    fn update_open(&mut self, entry: Arc<InboxEntry>) {
        let Some(open) = &mut self.open else { return };
        let before = open.ending;
        open.update(entry, self.now.elapsed);
        if open.ending != before {
            clear_transient(&mut self.message);
        }
        if open.takes_answers() || open.sending {
            return;
        }
        match self.overlay.take() {
            Some(Overlay::Reject(reject)) => open.reason = Some(reject.reason).filter(|reason| !reason.is_blank()),
            Some(Overlay::Comment(typing)) => open.comment = typing,
            Some(Overlay::Snooze { .. } | Overlay::OpenSteps) | None => {}
            Some(other @ (Overlay::Help { .. } | Overlay::Search(_) | Overlay::Ahead { .. } | Overlay::Batch(_))) => {
                self.overlay = Some(other)
            }
        }
    }

    fn insert_new(&mut self, entry: Arc<InboxEntry>) -> Vec<Effect> {
        let is_new = match (entry.is_notice(), entry.is_open()) {
            (true, _) => self.list_mut(Tab::Notices).insert_newest_first(entry),
            (false, true) if self.filter.admits(&entry.item) => self.list_mut(Tab::Waiting).insert(entry),
            (false, _) => false,
        };
        if is_new { vec![Effect::Ring] } else { Vec::new() }
    }

    fn answered(&mut self, id: &str, status: Result<String, ClientError>) -> Vec<Effect> {
        if let Some(effects) = self.batch_answered(id, &status) {
            return effects;
        }
        let is_held = status.as_ref().is_ok_and(|status| status == ON_HOLD);
        if is_held {
            self.on_hold(id);
        } else if status.is_ok() {
            self.list_mut(Tab::Waiting).remove(id, None);
            self.list_mut(Tab::Snoozed).remove(id, None);
        }
        match self.open.as_mut().filter(|open| open.id() == id) {
            Some(open) => {
                match status {
                    Ok(status) => open.accepted(status),
                    Err(error) => open.refused(&error),
                }
                if open.ending != ItemEnding::None {
                    clear_transient(&mut self.message);
                }
            }
            None => match status {
                Ok(_) if is_held => {}
                Ok(status) => self.show_info(format!("the hub has your answer ({status})")),
                Err(error) => return self.report_error(&error),
            },
        }
        vec![Effect::Read {
            id: id.to_owned(),
            fresh: false,
        }]
    }

    fn put_done(&mut self, id: &str, away: &SnoozeAction, done: Result<(), ClientError>) -> Vec<Effect> {
        if let Some(effects) = self.batch_put(id, &done) {
            return effects;
        }
        self.busy.remove(id);
        if let Err(error) = done {
            self.put_away.retain(|known| known != id);
            return self.report_error(&error);
        }
        self.total.mark_due();
        match away {
            SnoozeAction::Back => {
                self.show_info("it is back");
                self.list_mut(Tab::Snoozed).remove(id, None);
                self.fresh_reads += 1;
                vec![Effect::Read {
                    id: id.to_owned(),
                    fresh: true,
                }]
            }
            SnoozeAction::Archived => {
                self.show_info("archived; u takes it back");
                self.remove_and_advance(id, Tab::Notices)
            }
            SnoozeAction::Until(until) => {
                let when = time_label(*until, self.now.at, &self.zone);
                self.show_info(format!("snoozed until {when}; u takes it back"));
                self.remove_and_advance(id, Tab::Waiting)
            }
        }
    }

    /// If the item was open, the next one is opened.
    fn remove_and_advance(&mut self, id: &str, tab: Tab) -> Vec<Effect> {
        self.list_mut(tab).remove(id, None);
        match &self.open {
            Some(open) if open.id() == id => {
                let next = self
                    .list(self.tab)
                    .neighbour_of(id, 1, &self.search_text)
                    .filter(|_| self.tab == tab);
                match next {
                    Some(entry) => self.show(entry),
                    None => self.back(),
                }
            }
            Some(_) | None => Vec::new(),
        }
    }
}

/// Hints and errors from before the decision are cleared, because they no longer matter.
fn clear_transient(message: &mut Option<StatusMessage>) {
    message.take_if(|message| matches!(message.severity, Severity::Hint | Severity::Error));
}
