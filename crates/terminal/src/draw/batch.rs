//! The confirmation of a batch: the items, what happens to them, and which are left out.

use std::time::Duration;

use countersign_client::screen::escape;

use super::overlay::{reasons, spans};
use super::wrap::cut;
use super::{TextLayout, Theme};
use crate::state::{BatchAction, BatchDialog, items};

const MAX_TITLES: usize = 6;
const MAX_LEFT_OUT: usize = 3;

/// Returns the title of the dialog. The rows are dimmed while the dialog is inactive.
pub fn lay(layout: &mut TextLayout, dialog: &BatchDialog, theme: Theme, elapsed: Duration) -> String {
    let is_guarded = !dialog.guard_left(elapsed).is_zero();
    let style = if is_guarded { theme.quiet() } else { theme.plain() };
    for (_, title) in dialog.included.iter().take(MAX_TITLES) {
        let title = cut(&escape(title), layout.room().saturating_sub(2));
        layout.add_hanging("• ", &title, style);
    }
    more(layout, dialog.included.len(), MAX_TITLES, theme);
    left_out(layout, dialog, theme);
    layout.blank();
    match dialog.action {
        BatchAction::Approve => layout.add_text("Enter sends them one by one, each to its own agent.", style),
        BatchAction::Archive => layout.add_text("Enter puts them away.", style),
        BatchAction::Snooze => spans(layout, Some(dialog.span), theme),
        BatchAction::Deny => reasons(layout, &dialog.reject, theme),
    }
    let count = items(dialog.included.len());
    match dialog.action {
        BatchAction::Approve => format!("Approve {count}?"),
        BatchAction::Archive => format!("Archive {count}?"),
        BatchAction::Snooze => format!("Snooze {count} for"),
        BatchAction::Deny => format!("Deny {count}: the agents get the reason"),
    }
}

fn left_out(layout: &mut TextLayout, dialog: &BatchDialog, theme: Theme) {
    if dialog.left_out.is_empty() {
        return;
    }
    layout.blank();
    layout.add_text(&format!("Left out: {}", dialog.left_out.len()), theme.warning());
    for (title, why) in dialog.left_out.iter().take(MAX_LEFT_OUT) {
        let why = escape(why);
        let room = layout.room().saturating_sub(4 + why.chars().count());
        let title = cut(&escape(title), room.max(layout.room() / 3));
        layout.add_hanging("- ", &format!("{title}: {why}"), theme.quiet());
    }
    more(layout, dialog.left_out.len(), MAX_LEFT_OUT, theme);
}

fn more(layout: &mut TextLayout, count: usize, shown: usize, theme: Theme) {
    if count > shown {
        layout.add_text(&format!("  and {} more", count - shown), theme.quiet());
    }
}
