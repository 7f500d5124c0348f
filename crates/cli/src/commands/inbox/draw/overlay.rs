//! What lies over the rest: help, search, comment, a text written ahead, reasons, times.

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::widgets::{Block, Clear};

use super::super::answer::Verdict;
use super::super::state::{Open, Overlay, Reject, SPANS, State};
use super::{Paint, Sheet, middle};
use crate::screen::escape;

const WIDTH: u16 = 64;
/// Above and below.
const BORDERS: u16 = 2;

const KEYS: [(&str, &str); 16] = [
    ("j k, arrows", "move; scroll where nothing can be moved"),
    ("h l, arrows", "previous, next item"),
    ("Enter", "open; send what is picked"),
    ("1-9, Space", "pick, tick; o: answer in other words"),
    ("Tab", "next field, next list; n: notices and back"),
    ("a", "approve, complete"),
    ("r", "reject with a reason"),
    ("c", "comment, sent along with the decision"),
    ("s", "set aside until later; decides nothing"),
    ("e u", "archive a notice, take back what is away"),
    ("t", "try a failed delivery again"),
    ("w", "write ahead to an agent in a terminal"),
    ("/", "search"),
    ("PgUp PgDn", "scroll the text (Ctrl-U Ctrl-D, Home End)"),
    ("Esc", "back; nothing typed is lost"),
    ("q, Ctrl-C", "quit"),
];

pub fn draw(frame: &mut Frame, state: &mut State, paint: Paint, area: Rect) {
    let Some(overlay) = &mut state.overlay else { return };
    let width = WIDTH.min(area.width);
    let mut sheet = Sheet::new(width.saturating_sub(4), paint);
    let title = match overlay {
        Overlay::Help { scroll } => {
            help(&mut sheet, paint);
            let room = usize::from(area.height.saturating_sub(BORDERS));
            *scroll = (*scroll).min(sheet.height().saturating_sub(room));
            sheet.scroll_to(*scroll);
            "Keys"
        }
        Overlay::Search(typing) => {
            sheet.typing("/ ", typing, paint.plain(), true);
            "Search"
        }
        Overlay::Comment(typing) => {
            sheet.typing("", typing, paint.plain(), true);
            "Comment: goes along with what you decide"
        }
        Overlay::Ahead { typing, .. } => {
            sheet.typing("", typing, paint.plain(), true);
            "Write ahead: it answers what the agent asks next"
        }
        Overlay::Reject(reject) => {
            reasons(&mut sheet, reject, paint);
            refusal(state.open.as_ref())
        }
        Overlay::Aside { cursor, .. } => {
            let cursor = Some(*cursor);
            SPANS
                .iter()
                .enumerate()
                .for_each(|(index, span)| choice(&mut sheet, index, span, cursor, paint));
            "Set aside for"
        }
    };
    boxed(frame, sheet, title, paint, middle(area, width, u16::MAX));
}

fn boxed(frame: &mut Frame, sheet: Sheet, title: &'static str, paint: Paint, area: Rect) {
    let height = u16::try_from(sheet.height())
        .unwrap_or(u16::MAX)
        .max(1)
        .saturating_add(BORDERS);
    let area = middle(area, area.width, height);
    let block = Block::bordered()
        .title(format!(" {title} "))
        .border_style(paint.quiet());
    let inner = block.inner(area);
    frame.render_widget(Clear, area);
    frame.render_widget(block, area);
    sheet.draw(
        frame,
        Rect {
            x: inner.x + 1,
            width: inner.width.saturating_sub(2),
            ..inner
        },
    );
}

fn help(sheet: &mut Sheet, paint: Paint) {
    for (keys, words) in KEYS {
        sheet.hang(&format!("{keys:<13}"), words, paint.plain());
    }
}

fn reasons(sheet: &mut Sheet, reject: &Reject, paint: Paint) {
    for (index, reason) in reject.presets.iter().enumerate() {
        choice(sheet, index, &escape(reason), reject.cursor, paint);
    }
    choice(sheet, reject.presets.len(), "in my own words:", reject.cursor, paint);
    sheet.typing("   > ", &reject.reason, paint.plain(), reject.typing);
}

/// What the reason goes with, in the word the agent gets.
fn refusal(open: Option<&Open>) -> &'static str {
    match open.and_then(Open::rejection) {
        Some(Verdict::Declined) => "Decline: the agent gets the reason",
        Some(Verdict::Dismissed(_)) => "Dismiss: the agent gets the reason",
        Some(Verdict::Answered(_) | Verdict::Completed(_)) | None => "Reject: the agent gets the reason",
    }
}

fn choice(sheet: &mut Sheet, index: usize, text: &str, cursor: Option<usize>, paint: Paint) {
    let is_here = cursor == Some(index);
    let first = sheet.height();
    let style = if is_here { paint.chosen() } else { paint.plain() };
    sheet.hang(
        &format!("{} {}. ", if is_here { "▌" } else { " " }, index + 1),
        text,
        style,
    );
    if is_here {
        sheet.focus_from(first);
    }
}
