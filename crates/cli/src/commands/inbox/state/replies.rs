//! What the hub replied to what was asked of it.

use std::sync::Arc;

use super::super::seen::Seen;
use super::super::zone::at_words;
use super::{Away, Effect, Ending, Listing, Overlay, Page, Reply, Said, State, Tab, Weight};
use crate::client::HubError;

impl State {
    pub(super) fn replied(&mut self, reply: Reply) -> Vec<Effect> {
        match reply {
            Reply::Loaded { listing, appends, page } => self.loaded(&listing, appends, page),
            Reply::Read { id, fresh, seen } => self.read(&id, fresh, seen),
            Reply::Resolved { id, status } => self.answered(&id, status),
            Reply::Put { id, away, done } => self.was_put(&id, &away, done),
            Reply::Retried { id, done } => match done {
                Ok(()) => {
                    self.say("the hub tries the delivery again");
                    vec![Effect::Read { id, fresh: false }]
                }
                Err(error) => self.told(&error),
            },
            Reply::Ahead { agent_id, text, done } => self.written_ahead(agent_id, &text, done),
            Reply::Presets(presets) => match presets {
                Ok(presets) => {
                    self.presets = presets;
                    Vec::new()
                }
                Err(error) => self.told(&error),
            },
        }
    }

    fn told(&mut self, error: &HubError) -> Vec<Effect> {
        self.complain(error.to_string());
        Vec::new()
    }

    fn loaded(&mut self, listing: &Listing, appends: bool, page: Result<Page, HubError>) -> Vec<Effect> {
        let tab = listing.tab();
        let now = self.now.elapsed;
        // The answer to an earlier search, while a later one is under way.
        let is_outrun = *listing != self.listing(tab);
        match page {
            Ok(page) if !is_outrun => self.list_mut(tab).take(page, appends, now),
            Ok(_) => {
                self.list_mut(tab).failed();
                return self.reload(tab);
            }
            Err(error) => {
                self.list_mut(tab).failed();
                return self.told(&error);
            }
        }
        if self.list(tab).is_stale() {
            self.reload(tab)
        } else {
            Vec::new()
        }
    }

    fn read(&mut self, id: &str, fresh: bool, seen: Result<Arc<Seen>, HubError>) -> Vec<Effect> {
        if fresh {
            self.fresh_reads = self.fresh_reads.saturating_sub(1);
        }
        let is_open = self.open.as_ref().is_some_and(|open| open.id() == id);
        match seen {
            Ok(seen) => {
                self.list_mut(Tab::Waiting).renew(&seen);
                if is_open {
                    self.see(Arc::clone(&seen));
                }
                if fresh { self.welcome(seen) } else { Vec::new() }
            }
            Err(error) if is_open => self.told(&error),
            Err(_) => Vec::new(),
        }
    }

    /// When somebody else ends it, what lies over it closes, and what was typed there stays on screen.
    fn see(&mut self, seen: Arc<Seen>) {
        let Some(open) = &mut self.open else { return };
        let before = open.ending;
        open.see(seen);
        if open.ending != before {
            hush(&mut self.said);
        }
        if open.takes_answers() || open.sending {
            return;
        }
        match self.overlay.take() {
            Some(Overlay::Reject(reject)) => open.reason = Some(reject.reason).filter(|reason| !reason.is_blank()),
            Some(Overlay::Comment(typing)) => open.comment = typing,
            Some(Overlay::Aside { .. }) | None => {}
            Some(other @ (Overlay::Help { .. } | Overlay::Search(_) | Overlay::Ahead { .. })) => {
                self.overlay = Some(other)
            }
        }
    }

    fn welcome(&mut self, seen: Arc<Seen>) -> Vec<Effect> {
        let is_new = match (seen.is_notice(), seen.is_open()) {
            (true, _) => self.list_mut(Tab::Notices).insert_newest_first(seen),
            (false, true) if self.filter.admits(&seen.item) => self.list_mut(Tab::Waiting).insert(seen),
            (false, _) => false,
        };
        if is_new { vec![Effect::Ring] } else { Vec::new() }
    }

    fn answered(&mut self, id: &str, status: Result<String, HubError>) -> Vec<Effect> {
        if status.is_ok() {
            self.list_mut(Tab::Waiting).remove(id, None);
            self.list_mut(Tab::Aside).remove(id, None);
        }
        match self.open.as_mut().filter(|open| open.id() == id) {
            Some(open) => {
                match status {
                    Ok(status) => open.won(status),
                    Err(error) => open.refused(&error),
                }
                if open.ending != Ending::None {
                    hush(&mut self.said);
                }
            }
            None => match status {
                Ok(status) => self.say(format!("the hub has your answer ({status})")),
                Err(error) => return self.told(&error),
            },
        }
        vec![Effect::Read {
            id: id.to_owned(),
            fresh: false,
        }]
    }

    fn was_put(&mut self, id: &str, away: &Away, done: Result<(), HubError>) -> Vec<Effect> {
        self.busy.remove(id);
        if let Err(error) = done {
            self.put_away.retain(|known| known != id);
            return self.told(&error);
        }
        match away {
            Away::Back => {
                self.say("it is back");
                self.list_mut(Tab::Aside).remove(id, None);
                self.fresh_reads += 1;
                vec![Effect::Read {
                    id: id.to_owned(),
                    fresh: true,
                }]
            }
            Away::Archived => {
                self.say("archived; u takes it back");
                self.leave(id, Tab::Notices)
            }
            Away::Until(until) => {
                let when = at_words(*until, self.now.at, &self.zone);
                self.say(format!("set aside until {when}; u takes it back"));
                self.leave(id, Tab::Waiting)
            }
        }
    }

    /// Whoever stood in front of it goes on to the next one.
    fn leave(&mut self, id: &str, tab: Tab) -> Vec<Effect> {
        self.list_mut(tab).remove(id, None);
        match &self.open {
            Some(open) if open.id() == id => {
                let next = self
                    .list(self.tab)
                    .beside(id, 1, &self.words)
                    .filter(|_| self.tab == tab);
                match next {
                    Some(seen) => self.show(seen),
                    None => self.back(),
                }
            }
            Some(_) | None => Vec::new(),
        }
    }
}

/// What went wrong, or was missing, on the way to a decision says nothing any more once there is one.
fn hush(said: &mut Option<Said>) {
    said.take_if(|said| matches!(said.weight, Weight::Hint | Weight::Error));
}
