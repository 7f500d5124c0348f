//! Keys while a list is shown.

use std::sync::Arc;

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

use super::{BatchAction, Effect, InboxState, ItemEnding, OpenItem, Overlay, SnoozeAction, Tab};
use crate::inbox_entry::InboxEntry;
use crate::text_input::TextInput;

const PAGE_STEP: isize = 10;
const OPEN_FIRST: &str = "open it first, with Enter: decisions are made in front of the item";

impl InboxState {
    pub(super) fn list_key(&mut self, key: KeyEvent) -> Vec<Effect> {
        let control = key.modifiers.contains(KeyModifiers::CONTROL);
        match key.code {
            KeyCode::Char('l') if control => return self.reload(self.tab),
            KeyCode::Char('d') if control => return self.step(PAGE_STEP),
            KeyCode::Char('u') if control => return self.step(-PAGE_STEP),
            KeyCode::Char(_) if control => {}
            KeyCode::Down | KeyCode::Char('j') => return self.step(1),
            KeyCode::Up | KeyCode::Char('k') => return self.step(-1),
            KeyCode::PageDown => return self.step(PAGE_STEP),
            KeyCode::PageUp => return self.step(-PAGE_STEP),
            KeyCode::Home | KeyCode::Char('g') => return self.step(isize::MIN),
            KeyCode::End | KeyCode::Char('G') => return self.step(isize::MAX),
            KeyCode::Enter => return self.open_selected(),
            KeyCode::Char('O') => return self.browse_selected(),
            KeyCode::Char('q') if self.is_sending() => self.hint("the selection is still being sent; Ctrl-C quits"),
            KeyCode::Char('q') => return vec![Effect::Quit],
            KeyCode::Char('x') => return self.mark_selected(),
            KeyCode::Char('X') => self.mark_all(),
            KeyCode::Char(letter @ ('a' | 'r' | 's' | 'e')) if self.marked_count() > 0 => self.batch_letter(letter),
            KeyCode::Char('n') if self.tab == Tab::Notices => return self.switch_tab(Tab::Waiting),
            KeyCode::Char('n') => return self.switch_tab(Tab::Notices),
            KeyCode::Tab => return self.switch_tab(self.tab_beside(true)),
            KeyCode::BackTab => return self.switch_tab(self.tab_beside(false)),
            KeyCode::Char('e') => return self.archive_selected(),
            KeyCode::Char('u') => return self.take_back(),
            KeyCode::Char('z') => return self.undo(),
            KeyCode::Char('s') => self.snooze_selected(),
            KeyCode::Char('/') => self.overlay = Some(Overlay::Search(TextInput::line().holding(&self.search_text))),
            KeyCode::Char('?') => self.overlay = Some(Overlay::Help { scroll: 0 }),
            KeyCode::Char('a' | 'r' | 'c' | '1'..='9') => self.hint(OPEN_FIRST),
            KeyCode::Esc => return self.clear(),
            _ => {}
        }
        Vec::new()
    }

    fn batch_letter(&mut self, letter: char) {
        self.begin_batch(match letter {
            'a' => BatchAction::Approve,
            'r' => BatchAction::Deny,
            's' => BatchAction::Snooze,
            _ => BatchAction::Archive,
        });
    }

    fn browse_selected(&self) -> Vec<Effect> {
        let selected = self.list(self.tab).selected(&self.search_text);
        let browse = selected.map(|entry| Effect::Browse {
            id: entry.id().to_owned(),
        });
        browse.into_iter().collect()
    }

    pub(super) fn step(&mut self, rows: isize) -> Vec<Effect> {
        let tab = self.tab;
        let search_text = self.search_text.clone();
        self.list_mut(tab).step(rows, &search_text);
        let listing = self.listing(tab);
        let more = self.list_mut(tab).begin_more(&search_text);
        more.map(|(after, want)| Effect::Load {
            listing,
            after: Some(after),
            want,
        })
        .into_iter()
        .collect()
    }

    /// Search results are a tab only after a search.
    fn tab_beside(&self, forward: bool) -> Tab {
        let tabs: Vec<Tab> = Tab::ALL
            .into_iter()
            .filter(|tab| *tab != Tab::Found || !self.query.is_empty())
            .collect();
        let index = tabs.iter().position(|tab| *tab == self.tab).unwrap_or_default();
        let steps = if forward { 1 } else { tabs.len() - 1 };
        tabs[(index + steps) % tabs.len()]
    }

    /// Only the waiting and notice lists follow live events; the others are reloaded when shown.
    pub(super) fn switch_tab(&mut self, tab: Tab) -> Vec<Effect> {
        self.tab = tab;
        self.search_text.clear();
        let is_followed = matches!(tab, Tab::Waiting | Tab::Notices);
        if is_followed && self.list(tab).is_loaded() {
            Vec::new()
        } else {
            self.reload(tab)
        }
    }

    /// Clears the marks, else the search, else goes back to what waits.
    fn clear(&mut self) -> Vec<Effect> {
        let tab = self.tab;
        if self.marked_count() > 0 {
            self.list_mut(tab).clear_marks();
            return Vec::new();
        }
        if !self.search_text.is_empty() {
            self.search_text.clear();
            return Vec::new();
        }
        if self.tab == Tab::Waiting {
            Vec::new()
        } else {
            self.switch_tab(Tab::Waiting)
        }
    }

    fn open_selected(&mut self) -> Vec<Effect> {
        match self.selected().map(Arc::clone) {
            Some(entry) => self.show(entry),
            None => Vec::new(),
        }
    }

    /// The item is read again, because list rows are incomplete and may be outdated.
    pub(super) fn show(&mut self, entry: Arc<InboxEntry>) -> Vec<Effect> {
        self.keep_draft();
        let id = entry.id().to_owned();
        let tab = self.tab;
        self.list_mut(tab).select(&id);
        let draft = if entry.is_open() { self.drafts.take(&id) } else { None };
        self.open = Some(OpenItem::new(entry, draft, self.now.elapsed));
        vec![Effect::Read { id, fresh: false }]
    }

    pub(super) fn keep_draft(&mut self) {
        if let Some(open) = self.open.take()
            && open.ending == ItemEnding::None
            && open.is_begun()
        {
            let id = open.id().to_owned();
            self.drafts.keep(&id, open.editor, open.comment);
        }
    }

    fn archive_selected(&mut self) -> Vec<Effect> {
        let Some(entry) = self.selected().map(Arc::clone) else {
            return Vec::new();
        };
        if !self.list(self.tab).is_settled(self.now.elapsed) {
            return Vec::new();
        }
        let tab = self.tab;
        let search_text = self.search_text.clone();
        let effects = self.archive(&entry);
        // The cursor moves on before the hub replies, so that many notices can be archived quickly.
        if !effects.is_empty() {
            self.list_mut(tab).step(1, &search_text);
        }
        effects
    }

    pub(super) fn archive(&mut self, entry: &InboxEntry) -> Vec<Effect> {
        if !entry.is_notice() {
            self.hint("only notices are archived; s snoozes this one");
            return Vec::new();
        }
        self.put(entry.id(), SnoozeAction::Archived)
    }

    pub(super) fn put(&mut self, id: &str, away: SnoozeAction) -> Vec<Effect> {
        if !self.busy.insert(id.to_owned()) {
            return Vec::new();
        }
        self.put_away.retain(|known| known != id);
        if away != SnoozeAction::Back {
            self.put_away.push(id.to_owned());
        }
        vec![Effect::Put {
            id: id.to_owned(),
            away,
        }]
    }

    fn snooze_selected(&mut self) {
        let Some(entry) = self.selected().map(Arc::clone) else {
            return;
        };
        if self.list(self.tab).is_settled(self.now.elapsed) {
            self.begin_snooze(&entry);
        }
    }

    pub(super) fn begin_snooze(&mut self, entry: &InboxEntry) {
        if entry.is_open() && !entry.is_notice() {
            self.overlay = Some(Overlay::Snooze {
                id: entry.id().to_owned(),
                cursor: 0,
            });
        } else {
            self.hint("only open items can be snoozed");
        }
    }

    /// Brings back the selected item on the snoozed tab, else the item put away last.
    pub(super) fn take_back(&mut self) -> Vec<Effect> {
        let snoozed = self
            .selected()
            .filter(|_| self.tab == Tab::Snoozed && self.open.is_none());
        let id = snoozed
            .map(|entry| entry.id().to_owned())
            .or_else(|| self.put_away.last().cloned());
        match id {
            Some(id) => self.put(&id, SnoozeAction::Back),
            None => {
                self.hint("nothing was put away here");
                Vec::new()
            }
        }
    }
}
