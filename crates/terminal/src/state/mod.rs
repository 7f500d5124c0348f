//! The inbox as a state machine: an input changes the state and returns effects. It touches neither terminal nor
//! network, and gets the time from outside.

mod ahead;
mod batch;
mod drafts;
mod effects;
mod item_keys;
mod list;
mod list_keys;
mod live_events;
mod open;
mod overlay;
mod replies;
mod total;
mod undo;

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use jiff::Timestamp;
use jiff::tz::TimeZone;

use super::filter::InboxFilter;
use super::inbox_entry::InboxEntry;
use super::presets;
use super::text_input::TextInput;
use drafts::Drafts;
use total::WaitingTotal;

pub use batch::{BatchAction, BatchDialog, BatchRun, items};
pub use effects::{Effect, EntriesPage, InboxInput, InboxReply, Listing, SnoozeAction, Tab};
pub use list::ItemList;
pub use open::{ItemEnding, OpenItem};
pub use overlay::{Overlay, RejectDialog, SPANS};

/// The time after an item appears in which its choices are inactive: a key meant for another item must not decide it.
pub const GUARD: Duration = Duration::from_millis(500);
const STATUS_TTL: Duration = Duration::from_secs(10);
/// The list is reloaded now and then, because events are only hints. A reload also brings back items whose snooze
/// ended.
const RELOAD_INTERVAL: Duration = Duration::from_secs(60);
const TICK: Duration = Duration::from_secs(1);

/// The wall clock time and the monotonic time.
#[derive(Debug, Clone, Copy)]
pub struct Now {
    pub at: Timestamp,
    pub elapsed: Duration,
}

#[derive(Debug, PartialEq)]
pub enum HubLink {
    Connecting,
    Live,
    Lost(String),
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Severity {
    /// Refers to the last key; the next key clears it.
    Hint,
    Info,
    Error,
}

#[derive(Debug, PartialEq)]
pub struct StatusMessage {
    pub text: String,
    pub severity: Severity,
    since: Duration,
}

pub struct InboxState {
    pub now: Now,
    pub zone: TimeZone,
    pub filter: InboxFilter,
    pub link: HubLink,
    pub tab: Tab,
    lists: [ItemList; Tab::ALL.len()],
    /// The search: visible rows contain all words of it.
    pub search_text: String,
    /// The hub-wide search query.
    pub query: String,
    pub open: Option<OpenItem>,
    pub overlay: Option<Overlay>,
    pub message: Option<StatusMessage>,
    /// Items being snoozed, archived or brought back.
    busy: HashSet<String>,
    /// Items put away in this session, the latest last.
    put_away: Vec<String>,
    /// Items with a decision of this session that may be on hold, the latest last. The items of a batch are together.
    held: Vec<Vec<String>>,
    /// The batch at work.
    pub batch: Option<BatchRun>,
    drafts: Drafts,
    /// Unsent type-ahead texts, by agent.
    aheads: HashMap<String, TextInput>,
    /// Reasons to reject with.
    presets: Vec<String>,
    total: WaitingTotal,
    fresh_reads: usize,
    read_at: Duration,
}

impl InboxState {
    pub fn new(filter: InboxFilter, zone: TimeZone, now: Now) -> Self {
        Self {
            now,
            zone,
            filter,
            link: HubLink::Connecting,
            tab: Tab::Waiting,
            lists: Tab::ALL.map(|_| ItemList::default()),
            search_text: String::new(),
            query: String::new(),
            open: None,
            overlay: None,
            message: None,
            busy: HashSet::new(),
            put_away: Vec::new(),
            held: Vec::new(),
            batch: None,
            drafts: Drafts::default(),
            aheads: HashMap::new(),
            presets: presets::built_in(),
            total: WaitingTotal::default(),
            fresh_reads: 0,
            read_at: now.elapsed,
        }
    }

    pub fn update(&mut self, input: InboxInput, now: Now) -> Vec<Effect> {
        self.now = now;
        let mut effects = match input {
            InboxInput::Key(key) => self.key(key),
            InboxInput::Paste(text) => {
                self.paste(&text);
                Vec::new()
            }
            InboxInput::Tick => self.tick(),
            InboxInput::Feed(feed) => self.feed_event(feed),
            InboxInput::Reply(reply) => self.replied(reply),
        };
        effects.extend(self.recount());
        effects
    }

    fn key(&mut self, key: KeyEvent) -> Vec<Effect> {
        self.message.take_if(|message| message.severity == Severity::Hint);
        let control = key.modifiers.contains(KeyModifiers::CONTROL);
        match (&self.overlay, &self.open) {
            _ if control && key.code == KeyCode::Char('c') => vec![Effect::Quit],
            (Some(_), _) => self.overlay_key(key),
            (None, Some(_)) => self.item_key(key),
            (None, None) => self.list_key(key),
        }
    }

    fn paste(&mut self, text: &str) {
        match (&mut self.overlay, &mut self.open) {
            (Some(overlay), _) => overlay.paste(text),
            (None, Some(open)) if open.takes_answers() => open.editor.paste(text),
            (None, _) => {}
        }
        if let Some(Overlay::Search(typing)) = &self.overlay {
            self.search_text = typing.text().to_owned();
        }
    }

    fn tick(&mut self) -> Vec<Effect> {
        let elapsed = self.now.elapsed;
        self.message
            .take_if(|message| elapsed.saturating_sub(message.since) >= STATUS_TTL);
        if self.link != HubLink::Live {
            return Vec::new();
        }
        if elapsed.saturating_sub(self.read_at) >= RELOAD_INTERVAL {
            self.list_mut(Tab::Waiting).mark_stale();
        }
        let stale: Vec<Tab> = Tab::ALL.into_iter().filter(|tab| self.list(*tab).is_stale()).collect();
        stale.into_iter().flat_map(|tab| self.reload(tab)).collect()
    }

    /// The time until the next redraw without input.
    pub fn wake_in(&self) -> Duration {
        let guard = match (&self.overlay, &self.open) {
            (Some(Overlay::Batch(dialog)), _) => dialog.guard_left(self.now.elapsed),
            (_, Some(open)) => open.guard_left(self.now.elapsed),
            (_, None) => Duration::ZERO,
        };
        if guard.is_zero() { TICK } else { guard }
    }

    pub fn list(&self, tab: Tab) -> &ItemList {
        &self.lists[tab as usize]
    }

    fn list_mut(&mut self, tab: Tab) -> &mut ItemList {
        &mut self.lists[tab as usize]
    }

    /// The rows of the active tab that match the search.
    pub fn rows(&self) -> Vec<&Arc<InboxEntry>> {
        self.list(self.tab).shown(&self.search_text)
    }

    pub fn selected(&self) -> Option<&Arc<InboxEntry>> {
        self.list(self.tab).selected(&self.search_text)
    }

    pub fn is_busy(&self, id: &str) -> bool {
        self.busy.contains(id)
    }

    fn hint(&mut self, text: &str) {
        self.show_status(text.to_owned(), Severity::Hint);
    }

    fn show_info(&mut self, text: impl Into<String>) {
        self.show_status(text.into(), Severity::Info);
    }

    fn show_error(&mut self, text: String) {
        self.show_status(text, Severity::Error);
    }

    fn show_status(&mut self, text: String, severity: Severity) {
        self.message = Some(StatusMessage {
            text,
            severity,
            since: self.now.elapsed,
        });
    }

    /// Reloads the list, with as many rows as before.
    fn reload(&mut self, tab: Tab) -> Vec<Effect> {
        if tab == Tab::Waiting {
            self.read_at = self.now.elapsed;
        }
        let listing = self.listing(tab);
        let want = self.list_mut(tab).begin();
        want.map(|want| Effect::Load {
            listing,
            after: None,
            want,
        })
        .into_iter()
        .collect()
    }

    fn listing(&self, tab: Tab) -> Listing {
        match tab {
            Tab::Waiting => Listing::Waiting,
            Tab::Notices => Listing::Notices,
            Tab::Snoozed => Listing::Snoozed,
            Tab::Decided => Listing::Decided,
            Tab::Found => Listing::Found(self.query.clone()),
        }
    }
}

#[cfg(test)]
mod tests;
#[cfg(test)]
pub use tests::Scene;
