//! Draws the state. Nothing is decided here; content that does not fit is cut or scrolled.

mod batch;
mod editor;
mod hints;
mod item;
mod list;
mod overlay;
mod panel;
mod text_layout;
mod theme;
mod wrap;

use countersign_client::screen::escape;
use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use text_layout::TextLayout;

use super::state::{HubLink, InboxState, Severity, Tab};
pub use theme::Theme;

/// Below this width the program's name makes room for the tabs.
const TITLE_MIN_WIDTH: u16 = 80;

/// Scroll positions are clamped here, where the sizes are known.
pub fn draw(frame: &mut Frame, state: &mut InboxState, theme: Theme) {
    let rows = [Constraint::Length(1), Constraint::Min(1), Constraint::Length(1)];
    let [head, body, foot] = Layout::vertical(rows).areas(frame.area());
    frame.render_widget(head_line(state, theme, head.width), head);
    match &state.open {
        Some(_) => item::draw(frame, state, theme, body),
        None => list::draw(frame, state, theme, body),
    }
    frame.render_widget(foot_line(state, theme, foot.width), foot);
    overlay::draw(frame, state, theme, body);
}

fn head_line(state: &InboxState, theme: Theme, width: u16) -> Line<'static> {
    let mut spans = tabs(state, theme, false);
    if width >= TITLE_MIN_WIDTH {
        spans.insert(0, Span::styled(" Countersign ", theme.strong()));
    }
    let room = usize::from(width).saturating_sub(2);
    let taken = |spans: &[Span]| spans.iter().map(Span::width).sum::<usize>();
    if taken(&spans) > room {
        spans = tabs(state, theme, true);
    }
    let (text, sign, style) = match &state.link {
        HubLink::Connecting => ("connecting", "?", theme.warning()),
        HubLink::Live => ("live", "•", theme.good()),
        HubLink::Lost(_) => ("reconnecting", "!", theme.bad()),
    };
    let left = room.saturating_sub(taken(&spans));
    let text = if text.len() < left { text } else { sign };
    let gap = (left + 1).saturating_sub(wrap::width(text));
    spans.push(Span::raw(" ".repeat(gap.max(1))));
    spans.push(Span::styled(text, style));
    Line::from(spans)
}

/// Short tabs show only their first letter, except the active one.
fn tabs(state: &InboxState, theme: Theme, short: bool) -> Vec<Span<'static>> {
    let shown = Tab::ALL
        .into_iter()
        .filter(|tab| *tab != Tab::Found || !state.query.is_empty());
    let span = |tab: Tab| {
        let style = if tab == state.tab {
            theme.chosen()
        } else {
            theme.quiet()
        };
        let text = tab_label(state, tab);
        let shown_chars = if short && tab != state.tab { 1 } else { text.len() };
        Span::styled(
            format!(" {} ", text.chars().take(shown_chars).collect::<String>()),
            style,
        )
    };
    shown.map(span).collect()
}

fn tab_label(state: &InboxState, tab: Tab) -> String {
    let list = state.list(tab);
    let count = format!("{}{}", list.len(), if list.has_more() { "+" } else { "" });
    match tab {
        Tab::Waiting => match (state.waiting_total(), state.filter.is_empty()) {
            (Some(total), true) => format!("Waiting {total}"),
            (Some(total), false) => format!("Waiting {count} of {total}"),
            (None, _) => format!("Waiting {count}"),
        },
        Tab::Notices => format!("Notices {count}"),
        Tab::Snoozed => "Snoozed".to_owned(),
        Tab::Decided => "History".to_owned(),
        Tab::Found => "Found".to_owned(),
    }
}

/// The number of marked rows stays visible beside a message.
fn foot_line(state: &InboxState, theme: Theme, width: u16) -> Line<'static> {
    let selected = match (state.marked_count(), &state.open, &state.overlay) {
        (0, _, _) | (_, Some(_), _) | (_, _, Some(_)) => String::new(),
        (count, None, None) => format!("{count} selected  "),
    };
    let (text, style) = match (&state.message, &state.link) {
        (Some(message), _) => (escape(&message.text), message_style(message.severity, theme)),
        (None, HubLink::Lost(why)) => (format!("reconnecting: {}", escape(why)), theme.bad()),
        (None, HubLink::Connecting | HubLink::Live) => (hints::hints(state), theme.quiet()),
    };
    Line::styled(
        format!(
            " {}",
            wrap::cut(&format!("{selected}{text}"), usize::from(width).saturating_sub(2))
        ),
        style,
    )
}

fn message_style(severity: Severity, theme: Theme) -> Style {
    match severity {
        Severity::Hint => theme.warning(),
        Severity::Info => theme.strong(),
        Severity::Error => theme.bad(),
    }
}

/// A centered box of the wanted size, limited to the area.
fn middle(area: Rect, width: u16, height: u16) -> Rect {
    let width = width.min(area.width);
    let height = height.min(area.height);
    let left = (area.width - width) / 2;
    let top = (area.height - height) / 2;
    Rect {
        x: area.x + left,
        y: area.y + top,
        width,
        height,
    }
}

#[cfg(test)]
mod tests;
