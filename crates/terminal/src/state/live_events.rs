//! Live events from the hub.

use super::{Effect, HubLink, InboxState, Severity, Tab};
use crate::feed::{FeedEvent, InboxChange};

/// Above this many new items at once, the list is reloaded instead of reading each item.
const MAX_FRESH_READS: usize = 16;

impl InboxState {
    pub(super) fn feed_event(&mut self, feed: FeedEvent) -> Vec<Effect> {
        match feed {
            FeedEvent::Live => self.connected(),
            FeedEvent::Lost(why) => {
                self.link = HubLink::Lost(why);
                Vec::new()
            }
            FeedEvent::Change(InboxChange::Resync) => self.reload_visible(),
            FeedEvent::Change(InboxChange::Opened(id)) => {
                self.total.mark_due();
                self.read_new(id, Tab::Waiting)
            }
            FeedEvent::Change(InboxChange::Noticed(id)) => self.read_new(id, Tab::Notices),
            FeedEvent::Change(InboxChange::Resolved { id, text }) => self.resolved(&id, &text),
            FeedEvent::Change(InboxChange::Held(id)) => vec![Effect::Read { id, fresh: false }],
            FeedEvent::Change(InboxChange::Tracked(id)) => self.tracked(id),
        }
    }

    /// After a reconnect the presets are read again, because they may have changed.
    fn connected(&mut self) -> Vec<Effect> {
        let is_back = matches!(self.link, HubLink::Lost(_));
        self.link = HubLink::Live;
        let mut effects = self.reload_visible();
        effects.extend(is_back.then_some(Effect::Presets));
        effects
    }

    /// Reloads everything visible, to catch up on missed events.
    fn reload_visible(&mut self) -> Vec<Effect> {
        let mut tabs = vec![Tab::Waiting, Tab::Notices];
        if !tabs.contains(&self.tab) {
            tabs.push(self.tab);
        }
        let mut effects: Vec<Effect> = tabs.into_iter().flat_map(|tab| self.reload(tab)).collect();
        effects.extend(self.open.as_ref().map(|open| Effect::Read {
            id: open.id().to_owned(),
            fresh: false,
        }));
        effects
    }

    fn read_new(&mut self, id: String, tab: Tab) -> Vec<Effect> {
        if self.fresh_reads >= MAX_FRESH_READS {
            self.list_mut(tab).mark_stale();
            return Vec::new();
        }
        self.fresh_reads += 1;
        vec![Effect::Read { id, fresh: true }]
    }

    fn resolved(&mut self, id: &str, text: &str) -> Vec<Effect> {
        let now = self.now.elapsed;
        self.drafts.take(id);
        self.total.mark_due();
        // The line about a failed batch stays while its other decisions are sent.
        let is_kept = self.held.iter().flatten().any(|held| held == id)
            && matches!(&self.message, Some(message) if message.severity == Severity::Error);
        self.forget_held(id);
        self.leave_out_of_dialog(id, text);
        let removed = self.list_mut(Tab::Waiting).remove(id, Some(now));
        self.list_mut(Tab::Snoozed).remove(id, Some(now));
        let is_open = self.open.as_ref().is_some_and(|open| open.id() == id);
        if let (Some(entry), false) = (removed, is_open || is_kept) {
            self.show_info(format!("{}: {text}", entry.item.title));
        }
        self.read_if_open(id)
    }

    /// The presence is shown in the list, too.
    fn tracked(&mut self, id: String) -> Vec<Effect> {
        let is_open = self.open.as_ref().is_some_and(|open| open.id() == id);
        if !is_open && self.list(Tab::Waiting).holds_cue(&id) {
            return self.read_new(id, Tab::Waiting);
        }
        self.read_if_open(&id)
    }

    fn read_if_open(&self, id: &str) -> Vec<Effect> {
        match &self.open {
            Some(open) if open.id() == id => vec![Effect::Read {
                id: id.to_owned(),
                fresh: false,
            }],
            Some(_) | None => Vec::new(),
        }
    }
}
