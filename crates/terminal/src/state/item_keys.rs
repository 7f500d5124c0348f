//! Keys while one item is open.

use std::sync::Arc;

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

use super::overlay::RejectDialog;
use super::{Effect, InboxState, ItemEnding, OpenItem, Overlay};
use crate::answer::{Editor, KeyResult, PersonDecision};

impl InboxState {
    pub(super) fn item_key(&mut self, key: KeyEvent) -> Vec<Effect> {
        let Some(open) = &mut self.open else { return Vec::new() };
        if open.is_typing() {
            let pressed = open.editor.key(key);
            return self.pressed(pressed);
        }
        if scrolled(open, key) {
            return Vec::new();
        }
        let control = key.modifiers.contains(KeyModifiers::CONTROL);
        match key.code {
            KeyCode::Char(_) if control => Vec::new(),
            KeyCode::Esc => self.back(),
            KeyCode::Char('q') => self.quit(),
            KeyCode::Char('?') => {
                self.overlay = Some(Overlay::Help { scroll: 0 });
                Vec::new()
            }
            KeyCode::Right | KeyCode::Char('l') => self.neighbour(1),
            KeyCode::Left | KeyCode::Char('h') => self.neighbour(-1),
            KeyCode::Char('O') => vec![Effect::Browse {
                id: open.id().to_owned(),
            }],
            _ if !open.guard_left(self.now.elapsed).is_zero() => Vec::new(),
            KeyCode::Char('t') => self.retry(),
            KeyCode::Char('u') => self.take_back(),
            KeyCode::Char('z') => self.undo(),
            KeyCode::Char('w') => {
                self.write_ahead();
                Vec::new()
            }
            KeyCode::Enter if open.ending != ItemEnding::None => self.neighbour(1),
            _ if open.entry.is_notice() => self.notice_key(key),
            _ if open.takes_answers() => self.deciding_key(key),
            _ => Vec::new(),
        }
    }

    fn notice_key(&mut self, key: KeyEvent) -> Vec<Effect> {
        let Some(open) = &self.open else { return Vec::new() };
        match key.code {
            KeyCode::Char('e') => {
                let entry = Arc::clone(&open.entry);
                self.archive(&entry)
            }
            KeyCode::Enter => self.neighbour(1),
            _ => Vec::new(),
        }
    }

    fn deciding_key(&mut self, key: KeyEvent) -> Vec<Effect> {
        let Some(open) = &mut self.open else { return Vec::new() };
        match key.code {
            KeyCode::Char('a') => return self.approve(),
            KeyCode::Char('r') => self.reject(),
            KeyCode::Char('c') if open.entry.item.can_answer => {
                self.overlay = Some(Overlay::Comment(open.comment.clone()));
            }
            KeyCode::Char('s') => {
                let entry = Arc::clone(&open.entry);
                self.begin_snooze(&entry);
            }
            _ => {
                let pressed = open.editor.key(key);
                return self.pressed(pressed);
            }
        }
        Vec::new()
    }

    fn pressed(&mut self, pressed: KeyResult) -> Vec<Effect> {
        match pressed {
            KeyResult::Ignored | KeyResult::Handled => Vec::new(),
            KeyResult::Hint(hint) => {
                self.hint(hint);
                Vec::new()
            }
            KeyResult::Send(verdict) => self.send_checked(&verdict),
        }
    }

    /// Completing a task with open steps needs a second key.
    fn send_checked(&mut self, verdict: &PersonDecision) -> Vec<Effect> {
        let is_completed = matches!(verdict, PersonDecision::Completed(_));
        if is_completed
            && self
                .open
                .as_ref()
                .is_some_and(|open| open.editor.open_steps().is_some())
        {
            self.overlay = Some(Overlay::OpenSteps);
            return Vec::new();
        }
        self.send(verdict, "")
    }

    /// The item is not shown as decided until the hub confirms.
    pub(super) fn send(&mut self, verdict: &PersonDecision, reason: &str) -> Vec<Effect> {
        let Some(open) = &mut self.open else { return Vec::new() };
        let parts: Vec<&str> = [reason, open.comment.text()]
            .into_iter()
            .filter(|text| !text.trim().is_empty())
            .collect();
        let body = verdict.body(&parts.join("\n\n"));
        (open.sending, open.refusal) = (true, None);
        self.message = None;
        vec![Effect::Resolve {
            id: open.id().to_owned(),
            body,
        }]
    }

    fn approve(&mut self) -> Vec<Effect> {
        let Some(open) = &self.open else { return Vec::new() };
        match open.editor.approve() {
            Some(verdict) => self.send_checked(&verdict),
            None => {
                self.hint("nothing here is a plain yes; answer it below");
                Vec::new()
            }
        }
    }

    fn reject(&mut self) {
        let Some(open) = &self.open else { return };
        match open.rejection() {
            Some(_) => {
                let presets = self.presets.clone();
                self.overlay = Some(Overlay::Reject(RejectDialog {
                    presets,
                    ..RejectDialog::default()
                }));
            }
            None if !open.entry.item.can_answer => self.hint("this one is not yours to answer"),
            None => self.hint("the asker takes no refusal here"),
        }
    }

    fn retry(&mut self) -> Vec<Effect> {
        let Some(open) = &self.open else { return Vec::new() };
        match &open.entry.item.delivery {
            Some(delivery) if delivery.state == "failed" => vec![Effect::Retry {
                id: open.id().to_owned(),
            }],
            Some(_) | None => Vec::new(),
        }
    }

    pub(super) fn back(&mut self) -> Vec<Effect> {
        self.keep_draft();
        self.open = None;
        Vec::new()
    }

    fn quit(&mut self) -> Vec<Effect> {
        match &self.open {
            Some(open) if open.ending == ItemEnding::None && open.is_begun() => {
                self.hint("what you entered is not sent: Esc goes back and keeps it, Ctrl-C quits");
                Vec::new()
            }
            Some(_) | None => vec![Effect::Quit],
        }
    }

    pub(super) fn neighbour(&mut self, rows: isize) -> Vec<Effect> {
        let Some(open) = &self.open else { return Vec::new() };
        match self.list(self.tab).neighbour_of(open.id(), rows, &self.search_text) {
            Some(entry) => self.show(entry),
            None if open.ending == ItemEnding::None => Vec::new(),
            None => self.back(),
        }
    }
}

/// j and k scroll only if the editor has no rows to move through.
fn scrolled(open: &mut OpenItem, key: KeyEvent) -> bool {
    let control = key.modifiers.contains(KeyModifiers::CONTROL);
    let is_reading = !open.takes_answers() || matches!(open.editor, Editor::Nothing | Editor::Text(_));
    // One line overlaps, as orientation.
    let leap = open.page.saturating_sub(1).max(1);
    let scroll = match key.code {
        KeyCode::PageDown => open.scroll.saturating_add(leap),
        KeyCode::Char('d') if control => open.scroll.saturating_add(leap),
        KeyCode::PageUp => open.scroll.saturating_sub(leap),
        KeyCode::Char('u') if control => open.scroll.saturating_sub(leap),
        KeyCode::Home => 0,
        KeyCode::End => usize::MAX,
        KeyCode::Down | KeyCode::Char('j') if is_reading => open.scroll.saturating_add(1),
        KeyCode::Up | KeyCode::Char('k') if is_reading => open.scroll.saturating_sub(1),
        _ => return false,
    };
    open.scroll = scroll;
    true
}
