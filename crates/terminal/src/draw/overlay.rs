//! Overlays: help, search, comment, type-ahead, reasons, snooze times, open steps, several items.

use countersign_client::screen::escape;
use countersign_core::vocabulary::Action;
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::widgets::{Block, Clear};

use super::{TextLayout, Theme, batch, middle};
use crate::answer::PersonDecision;
use crate::state::{InboxState, OpenItem, Overlay, RejectDialog, SPANS};

const WIDTH: u16 = 64;
/// The top and the bottom border.
const BORDERS: u16 = 2;

const KEYS: [(&str, &str); 16] = [
    ("j k, arrows", "move; scroll where nothing can be moved"),
    ("h l, arrows", "previous, next item"),
    ("Enter", "open; send what is picked"),
    ("1-9, Space", "pick, tick; o: answer in other words"),
    ("Tab", "next field, next list; n: notices and back"),
    ("a", "approve, done"),
    ("r", "deny, skip or can't do, with a reason"),
    ("c", "comment, sent along with the decision"),
    ("s", "snooze until later; it keeps waiting"),
    ("x X", "select one, all; then a r s e for them"),
    ("e u", "archive a notice, take back what is away"),
    ("z", "undo your last decision, for some seconds"),
    ("t w", "retry a failed delivery; queue a reply"),
    ("/ O", "search; open the item in the browser"),
    ("PgUp PgDn", "scroll the text (Ctrl-U Ctrl-D, Home End)"),
    ("Esc, q", "back, quit (Ctrl-C); nothing typed is lost"),
];

pub fn draw(frame: &mut Frame, state: &mut InboxState, theme: Theme, area: Rect) {
    let Some(overlay) = &mut state.overlay else { return };
    let width = WIDTH.min(area.width);
    let mut layout = TextLayout::new(width.saturating_sub(4), theme);
    let title = match overlay {
        Overlay::Help { scroll } => {
            help(&mut layout, theme);
            let room = usize::from(area.height.saturating_sub(BORDERS));
            *scroll = (*scroll).min(layout.height().saturating_sub(room));
            layout.scroll_to(*scroll);
            "Keys".to_owned()
        }
        Overlay::Search(typing) => {
            layout.typing("/ ", typing, theme.plain(), true);
            "Search".to_owned()
        }
        Overlay::Comment(typing) => {
            layout.typing("", typing, theme.plain(), true);
            "Comment: goes along with what you decide".to_owned()
        }
        Overlay::Ahead { typing, .. } => {
            layout.typing("", typing, theme.plain(), true);
            "Queue a reply: it answers what the agent asks next".to_owned()
        }
        Overlay::Reject(reject) => {
            reasons(&mut layout, reject, theme);
            refusal(state.open.as_ref()).to_owned()
        }
        Overlay::OpenSteps => {
            let open = state.open.as_ref().and_then(|open| open.editor.open_steps());
            layout.add_text("y sends it with the steps as they are ticked.", theme.plain());
            format!("{}. Send {} anyway?", open.unwrap_or_default(), Action::Done.label())
        }
        Overlay::Batch(dialog) => batch::lay(&mut layout, dialog, theme, state.now.elapsed),
        Overlay::Snooze { cursor, .. } => {
            spans(&mut layout, Some(*cursor), theme);
            "Snooze for".to_owned()
        }
    };
    boxed(frame, layout, &title, theme, middle(area, width, u16::MAX));
}

fn boxed(frame: &mut Frame, layout: TextLayout, title: &str, theme: Theme, area: Rect) {
    let height = u16::try_from(layout.height())
        .unwrap_or(u16::MAX)
        .max(1)
        .saturating_add(BORDERS);
    let area = middle(area, area.width, height);
    let block = Block::bordered()
        .title(format!(" {title} "))
        .border_style(theme.quiet());
    let inner = block.inner(area);
    frame.render_widget(Clear, area);
    frame.render_widget(block, area);
    layout.draw(
        frame,
        Rect {
            x: inner.x + 1,
            width: inner.width.saturating_sub(2),
            ..inner
        },
    );
}

fn help(layout: &mut TextLayout, theme: Theme) {
    for (keys, text) in KEYS {
        layout.add_hanging(&format!("{keys:<13}"), text, theme.plain());
    }
}

pub fn spans(layout: &mut TextLayout, cursor: Option<usize>, theme: Theme) {
    for (index, span) in SPANS.iter().enumerate() {
        choice(layout, index, span, cursor, theme);
    }
}

pub fn reasons(layout: &mut TextLayout, reject: &RejectDialog, theme: Theme) {
    for (index, reason) in reject.presets.iter().enumerate() {
        choice(layout, index, &escape(reason), reject.cursor, theme);
    }
    choice(layout, reject.presets.len(), "something else:", reject.cursor, theme);
    layout.typing("   > ", &reject.reason, theme.plain(), reject.typing);
}

/// The title of the reason dialog, named by the outcome the agent gets.
fn refusal(open: Option<&OpenItem>) -> &'static str {
    match open.and_then(OpenItem::rejection) {
        Some(PersonDecision::Declined) => "Skip: the agent gets the reason",
        Some(PersonDecision::Dismissed(_)) => "Can't do: the agent gets the reason",
        Some(PersonDecision::Answered(_) | PersonDecision::Completed(_)) | None => "Deny: the agent gets the reason",
    }
}

fn choice(layout: &mut TextLayout, index: usize, text: &str, cursor: Option<usize>, theme: Theme) {
    let is_here = cursor == Some(index);
    let first = layout.height();
    let style = if is_here { theme.chosen() } else { theme.plain() };
    layout.add_hanging(
        &format!("{} {}. ", if is_here { "▌" } else { " " }, index + 1),
        text,
        style,
    );
    if is_here {
        layout.focus_from(first);
    }
}
