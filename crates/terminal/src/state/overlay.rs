//! Overlays above the list or the item: help, search, comment, type-ahead, reason, snooze time, open steps, several items.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use jiff::{Timestamp, ToSpan};

use super::{BatchDialog, Effect, InboxState, OpenItem, SnoozeAction, Tab};
use crate::text_input::TextInput;

pub const SPANS: [&str; 4] = ["15 minutes", "1 hour", "4 hours", "tomorrow at 9"];
const MORNING_HOUR: i8 = 9;
const HELP_PAGE_STEP: usize = 5;

#[derive(Debug)]
pub enum Overlay {
    Help {
        scroll: usize,
    },
    Search(TextInput),
    Comment(TextInput),
    Ahead {
        agent_id: String,
        typing: TextInput,
    },
    Reject(RejectDialog),
    /// Snoozing decides nothing, so the shortest time is preselected.
    Snooze {
        id: String,
        cursor: usize,
    },
    /// The confirmation for a task with open steps.
    OpenSteps,
    /// The confirmation for all marked items.
    Batch(BatchDialog),
}

/// The preset reasons, followed by a free text row.
#[derive(Debug, Default)]
pub struct RejectDialog {
    /// A copy from the moment the dialog opened: a number must not change its meaning while the person chooses.
    pub presets: Vec<String>,
    pub cursor: Option<usize>,
    pub reason: TextInput,
    pub typing: bool,
}

/// The result of a key in the dialog of reasons.
#[derive(Debug, PartialEq)]
pub enum RejectStep {
    Open,
    Closed,
    Hint(&'static str),
    Chosen(String),
}

impl RejectDialog {
    pub fn key(&mut self, key: KeyEvent) -> RejectStep {
        let free_text = self.presets.len();
        let row = row(key, self.cursor, free_text + 1);
        match key.code {
            KeyCode::Esc if self.typing => self.typing = false,
            KeyCode::Esc => return RejectStep::Closed,
            KeyCode::Enter if self.typing => return RejectStep::Chosen(self.reason.text().to_owned()),
            _ if self.typing => drop(self.reason.key(key)),
            KeyCode::Enter => match (self.cursor, self.cursor.and_then(|cursor| self.presets.get(cursor))) {
                (_, Some(reason)) => return RejectStep::Chosen(reason.clone()),
                (Some(_), None) => self.typing = true,
                (None, None) => return RejectStep::Hint("pick a reason first: its number, or j and k"),
            },
            _ => {
                self.cursor = row.or(self.cursor);
                // Moving to the free text row starts typing.
                self.typing = row == Some(free_text);
            }
        }
        RejectStep::Open
    }
}

impl Overlay {
    pub fn paste(&mut self, text: &str) {
        match self {
            Self::Search(typing) | Self::Comment(typing) | Self::Ahead { typing, .. } => typing.paste(text),
            Self::Reject(reject) if reject.typing => reject.reason.paste(text),
            Self::Batch(dialog) if dialog.reject.typing => dialog.reject.reason.paste(text),
            Self::Reject(_) | Self::Batch(_) | Self::Help { .. } | Self::Snooze { .. } | Self::OpenSteps => {}
        }
    }
}

impl InboxState {
    /// The overlay is taken out, handles the key, and is put back unless the key closes it.
    pub(super) fn overlay_key(&mut self, key: KeyEvent) -> Vec<Effect> {
        match self.overlay.take() {
            Some(Overlay::Search(typing)) => self.search_key(key, typing),
            Some(Overlay::Comment(typing)) => self.comment_key(key, typing),
            Some(Overlay::Ahead { agent_id, typing }) => self.ahead_key(key, agent_id, typing),
            Some(Overlay::Reject(reject)) => self.reject_key(key, reject),
            Some(Overlay::Snooze { id, cursor }) => self.snooze_key(key, id, cursor),
            Some(Overlay::OpenSteps) => self.open_steps_key(key),
            Some(Overlay::Batch(dialog)) => self.batch_key(key, dialog),
            Some(Overlay::Help { scroll }) => self.help_key(key, scroll),
            None => Vec::new(),
        }
    }

    /// Any key that does not scroll closes the help.
    fn help_key(&mut self, key: KeyEvent, scroll: usize) -> Vec<Effect> {
        let scroll = match key.code {
            KeyCode::Down | KeyCode::Char('j') => scroll.saturating_add(1),
            KeyCode::Up | KeyCode::Char('k') => scroll.saturating_sub(1),
            KeyCode::PageDown | KeyCode::Char(' ') => scroll.saturating_add(HELP_PAGE_STEP),
            KeyCode::PageUp => scroll.saturating_sub(HELP_PAGE_STEP),
            _ => return Vec::new(),
        };
        self.overlay = Some(Overlay::Help { scroll });
        Vec::new()
    }

    /// The rows are filtered while typing; Enter searches on the hub.
    fn search_key(&mut self, key: KeyEvent, mut typing: TextInput) -> Vec<Effect> {
        match key.code {
            KeyCode::Esc => self.search_text.clear(),
            KeyCode::Enter if typing.is_blank() => self.search_text.clear(),
            KeyCode::Enter => {
                typing.text().trim().clone_into(&mut self.query);
                self.list_mut(Tab::Found).forget();
                return self.switch_tab(Tab::Found);
            }
            KeyCode::Down | KeyCode::Up => {}
            _ => {
                typing.key(key);
                typing.text().clone_into(&mut self.search_text);
                self.overlay = Some(Overlay::Search(typing));
            }
        }
        Vec::new()
    }

    /// Enter and Esc both keep the comment; it is sent with the decision.
    fn comment_key(&mut self, key: KeyEvent, mut typing: TextInput) -> Vec<Effect> {
        let is_end = is_enter(key) || key.code == KeyCode::Esc;
        if is_end {
            if let Some(open) = &mut self.open {
                open.comment = typing;
            }
        } else {
            typing.key(key);
            self.overlay = Some(Overlay::Comment(typing));
        }
        Vec::new()
    }

    fn reject_key(&mut self, key: KeyEvent, mut reject: RejectDialog) -> Vec<Effect> {
        match reject.key(key) {
            RejectStep::Closed => return Vec::new(),
            RejectStep::Chosen(reason) => return self.rejected(&reason),
            RejectStep::Hint(hint) => self.hint(hint),
            RejectStep::Open => {}
        }
        self.overlay = Some(Overlay::Reject(reject));
        Vec::new()
    }

    fn rejected(&mut self, reason: &str) -> Vec<Effect> {
        match self
            .open
            .as_ref()
            .filter(|open| open.takes_answers())
            .and_then(OpenItem::rejection)
        {
            Some(verdict) => self.send(&verdict, reason),
            None => Vec::new(),
        }
    }

    /// Neither key that asked the question answers it: a key held down must not send.
    fn open_steps_key(&mut self, key: KeyEvent) -> Vec<Effect> {
        match key.code {
            KeyCode::Char('y') => {
                let done = self.open.as_ref().filter(|open| open.takes_answers());
                let verdict = done.and_then(|open| open.editor.approve());
                verdict.map(|verdict| self.send(&verdict, "")).unwrap_or_default()
            }
            KeyCode::Esc | KeyCode::Char('n') => Vec::new(),
            _ => {
                self.overlay = Some(Overlay::OpenSteps);
                Vec::new()
            }
        }
    }

    fn snooze_key(&mut self, key: KeyEvent, id: String, cursor: usize) -> Vec<Effect> {
        let cursor = match key.code {
            KeyCode::Esc => return Vec::new(),
            KeyCode::Enter => match self.until(cursor) {
                Some(until) => return self.put(&id, SnoozeAction::Until(until)),
                None => cursor,
            },
            _ => row(key, Some(cursor), SPANS.len()).unwrap_or(cursor),
        };
        self.overlay = Some(Overlay::Snooze { id, cursor });
        Vec::new()
    }

    pub(super) fn until(&self, span: usize) -> Option<Timestamp> {
        let now = self.now.at;
        match span {
            0 => now.checked_add(15.minutes()).ok(),
            1 => now.checked_add(1.hour()).ok(),
            2 => now.checked_add(4.hours()).ok(),
            _ => {
                let tomorrow = now.to_zoned(self.zone.clone()).date().tomorrow().ok()?;
                Some(
                    tomorrow
                        .at(MORNING_HOUR, 0, 0, 0)
                        .to_zoned(self.zone.clone())
                        .ok()?
                        .timestamp(),
                )
            }
        }
    }
}

pub fn is_enter(key: KeyEvent) -> bool {
    key.code == KeyCode::Enter && !key.modifiers.contains(KeyModifiers::ALT)
}

/// The row that a movement key or a digit leads to.
pub fn row(key: KeyEvent, cursor: Option<usize>, count: usize) -> Option<usize> {
    use crate::answer::rows::{moved, numbered};
    moved(key, cursor, count).or_else(|| numbered(key, count))
}
