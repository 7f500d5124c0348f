//! One item: the agent's content, and beside or below it the answer panel.

use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::text::Line;

use super::{TextLayout, Theme, panel};
use crate::content::content;
use crate::state::{InboxState, ItemEnding};

/// The minimum width for both side by side.
const SIDE_BY_SIDE_MIN_WIDTH: u16 = 110;
const PANEL_PERCENT: u16 = 42;

pub fn draw(frame: &mut Frame, state: &mut InboxState, theme: Theme, area: Rect) {
    let inner = Rect {
        x: area.x + 1,
        width: area.width.saturating_sub(2),
        ..area
    };
    let columns = [
        Constraint::Min(1),
        Constraint::Length(2),
        Constraint::Percentage(PANEL_PERCENT),
    ];
    let [left, _, right] = Layout::horizontal(columns).areas(inner);
    let is_wide = area.width >= SIDE_BY_SIDE_MIN_WIDTH;
    let (text_width, panel_width) = if is_wide {
        (left.width, right.width)
    } else {
        (inner.width, inner.width)
    };
    let (Some(text), Some(panel)) = (
        content_sheet(state, theme, text_width),
        panel::layout(state, theme, panel_width),
    ) else {
        return;
    };
    let (above, rule_area, below) = if is_wide {
        let [head, below] = Layout::vertical([Constraint::Length(1), Constraint::Min(0)]).areas(right);
        (left, head, below)
    } else {
        stacked(inner, text.height(), panel.height())
    };
    let is_cut = draw_content(frame, state, text, above);
    frame.render_widget(rule(state, theme, rule_area.width, is_cut), rule_area);
    panel.draw(frame, below);
}

fn content_sheet(state: &InboxState, theme: Theme, width: u16) -> Option<TextLayout> {
    let open = state.open.as_ref()?;
    let mut layout = TextLayout::new(width, theme);
    layout.pieces(&content(&open.entry, state.now.at, &state.zone));
    Some(layout)
}

/// The panel gets the rows it needs, up to half of the area, and more if the text leaves them.
fn stacked(area: Rect, text: usize, panel: usize) -> (Rect, Rect, Rect) {
    let room = usize::from(area.height).saturating_sub(1);
    let below = panel.min((room / 2).max(room.saturating_sub(text)));
    let above = text.min(room.saturating_sub(below));
    let length = |rows: usize| Constraint::Length(u16::try_from(rows).unwrap_or(u16::MAX));
    let [above, between, below] = Layout::vertical([length(above), length(1), length(below)]).areas(area);
    (above, between, below)
}

/// Returns whether the content is longer than the area.
fn draw_content(frame: &mut Frame, state: &mut InboxState, text: TextLayout, area: Rect) -> bool {
    let max_scroll = text.height().saturating_sub(usize::from(area.height));
    let Some(open) = &mut state.open else { return false };
    (open.scroll, open.page) = (open.scroll.min(max_scroll), usize::from(area.height));
    text.draw_from(frame, area, open.scroll);
    max_scroll > 0
}

fn rule(state: &InboxState, theme: Theme, width: u16, is_cut: bool) -> Line<'static> {
    let name = match &state.open {
        Some(open) if open.ending != ItemEnding::None => "Outcome",
        Some(open) if open.entry.is_notice() => "Notice",
        Some(_) | None => "Your answer",
    };
    let room = usize::from(width).saturating_sub(name.len() + 4);
    let fits = |more: &&str| is_cut && more.chars().count() <= room;
    let more = [" PgUp PgDn scroll the text ──", " PgUp PgDn ──"]
        .into_iter()
        .find(fits)
        .unwrap_or_default();
    let used = name.len() + 4 + more.chars().count();
    let dashes = "─".repeat(usize::from(width).saturating_sub(used));
    Line::styled(format!("── {name} {dashes}{more}"), theme.quiet())
}
