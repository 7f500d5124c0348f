//! A list with two lines per item, readable on a narrow screen.

use countersign_client::screen::{duration_label, escape};
use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::{Line, Span, Text};

use super::wrap::{cut, width};
use super::{TextLayout, Theme};
use crate::inbox_entry::InboxEntry;
use crate::local_time::hub_time_label;
use crate::state::{InboxState, Tab};

const LINES_EACH: usize = 2;

pub fn draw(frame: &mut Frame, state: &InboxState, theme: Theme, area: Rect) {
    let rows = state.rows();
    if rows.is_empty() {
        let mut layout = TextLayout::new(area.width.saturating_sub(2), theme);
        layout.blank();
        layout.add_text(&empty_list_text(state), theme.quiet());
        return layout.draw(
            frame,
            Rect {
                x: area.x + 1,
                width: area.width.saturating_sub(2),
                ..area
            },
        );
    }
    let cursor = state.list(state.tab).position(&state.search_text).unwrap_or_default();
    let fitting = (usize::from(area.height) / LINES_EACH).max(1);
    // The list scrolls by whole pages, so that it does not move with every step.
    let first = cursor / fitting * fitting;
    let mut lines = Vec::new();
    for (index, entry) in rows.iter().enumerate().skip(first).take(fitting) {
        lines.extend(row(state, entry, index == cursor, theme, usize::from(area.width)));
    }
    frame.render_widget(Text::from(lines), area);
}

fn empty_list_text(state: &InboxState) -> String {
    let filter = state.filter.text();
    match state.tab {
        _ if !state.list(state.tab).is_loaded() => "Reading…".to_owned(),
        _ if !state.search_text.is_empty() => {
            format!(
                "Nothing here mentions {}. Enter searches everything.",
                escape(&state.search_text)
            )
        }
        Tab::Waiting if !filter.is_empty() => format!("Nothing waits for you ({}).", escape(&filter)),
        Tab::Waiting => "Nothing waits for you.".to_owned(),
        Tab::Notices => "No notices.".to_owned(),
        Tab::Snoozed => "Nothing is snoozed.".to_owned(),
        Tab::Decided => "Nothing has been answered yet.".to_owned(),
        Tab::Found => format!("Nothing was found for {}.", escape(&state.query)),
    }
}

fn row(
    state: &InboxState,
    entry: &InboxEntry,
    is_chosen: bool,
    theme: Theme,
    max_width: usize,
) -> [Line<'static>; LINES_EACH] {
    let age = entry.item.created_at.age(state.now.at);
    let waited = duration_label(age);
    let (mark, urgency) = priority(&entry.item.priority, theme);
    let cursor = if is_chosen { "▌" } else { " " };
    let tick = tick(state, entry);
    let room = max_width.saturating_sub(5 + tick.len() + width(&waited) + 1);
    let title = cut(&escape(&entry.item.title), room);
    let gap = " ".repeat(room.saturating_sub(width(&title)) + 1);
    let style = match (is_chosen, state.is_busy(entry.id())) {
        (_, true) => theme.quiet(),
        (true, false) => theme.chosen(),
        (false, false) => theme.strong(),
    };
    let age_style = if entry.is_open() && !entry.is_notice() {
        theme.age(age)
    } else {
        theme.quiet()
    };
    let first = Line::from(vec![
        Span::raw(cursor),
        Span::styled(format!("{mark} "), urgency),
        Span::raw(tick),
        Span::styled(title, style),
        Span::raw(gap),
        Span::styled(waited, age_style),
    ]);
    let about = cut(&about(state, entry), max_width.saturating_sub(5 + tick.len()));
    [
        first,
        Line::from(vec![
            Span::raw(format!("{cursor}   {}", " ".repeat(tick.len()))),
            Span::styled(about, theme.quiet()),
        ]),
    ]
}

/// The box before each title, once a row is marked.
fn tick(state: &InboxState, entry: &InboxEntry) -> &'static str {
    match (state.marked_count(), state.is_marked(entry.id())) {
        (0, _) => "",
        (_, true) => "[x] ",
        (_, false) => "[ ] ",
    }
}

fn priority(priority: &str, theme: Theme) -> (&'static str, Style) {
    match priority {
        "urgent" => ("!!", theme.bad()),
        "high" => (" !", theme.warning()),
        "low" => (" -", theme.quiet()),
        _ => ("  ", theme.plain()),
    }
}

/// The asker, the kind of question, and the next or last event.
fn about(state: &InboxState, entry: &InboxEntry) -> String {
    let item = &entry.item;
    let project = item
        .agent
        .project
        .as_ref()
        .filter(|project| !item.asker().contains(project.as_str()))
        .map(|project| format!(" · {project}"))
        .unwrap_or_default();
    let mut parts = vec![format!("{}{project}", item.asker()), item.kind().to_owned()];
    match (&item.resolution, &entry.item.until) {
        (Some(resolution), _) => {
            let at = hub_time_label(&resolution.resolved_at, state.now.at, &state.zone);
            parts.push(format!("{} at {at}", item.outcome_text().unwrap_or_default()));
        }
        (None, Some(until)) => parts.push(format!(
            "snoozed until {}",
            hub_time_label(until, state.now.at, &state.zone)
        )),
        (None, None) if entry.is_notice() => {}
        (None, None) => parts.extend(item.expiry_text(state.now.at)),
    }
    parts.extend(item.presence_label().map(|label| format!("agent {label}")));
    if let Some(held) = item.held_text() {
        parts.push(held);
    } else if entry.is_open() && !entry.is_notice() && !item.can_answer {
        parts.push("not yours to answer".to_owned());
    }
    parts.extend((!item.tags.is_empty()).then(|| item.tags.join(" ")));
    escape(&parts.join(" · "))
}
