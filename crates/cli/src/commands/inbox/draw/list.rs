//! A list: two lines for every item, so that all of it can be read on a narrow screen too.

use ratatui::Frame;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::{Line, Span, Text};

use super::super::seen::Seen;
use super::super::state::{State, Tab};
use super::super::zone::time_words;
use super::wrap::{cut, width};
use super::{Paint, Sheet};
use crate::screen::{duration_words, escape};

const LINES_EACH: usize = 2;

pub fn draw(frame: &mut Frame, state: &State, paint: Paint, area: Rect) {
    let rows = state.rows();
    if rows.is_empty() {
        let mut sheet = Sheet::new(area.width.saturating_sub(2), paint);
        sheet.blank();
        sheet.say(&empty_words(state), paint.quiet());
        return sheet.draw(
            frame,
            Rect {
                x: area.x + 1,
                width: area.width.saturating_sub(2),
                ..area
            },
        );
    }
    let cursor = state.list(state.tab).position(&state.words).unwrap_or_default();
    let fitting = (usize::from(area.height) / LINES_EACH).max(1);
    // Whole pages: the list does not move under the eye with every step.
    let first = cursor / fitting * fitting;
    let mut lines = Vec::new();
    for (index, seen) in rows.iter().enumerate().skip(first).take(fitting) {
        lines.extend(row(state, seen, index == cursor, paint, usize::from(area.width)));
    }
    frame.render_widget(Text::from(lines), area);
}

fn empty_words(state: &State) -> String {
    let filter = state.filter.words();
    match state.tab {
        _ if !state.list(state.tab).is_loaded() => "Reading…".to_owned(),
        _ if !state.words.is_empty() => {
            format!(
                "Nothing here mentions {}. Enter searches everything.",
                escape(&state.words)
            )
        }
        Tab::Waiting if !filter.is_empty() => format!("Nothing waits for you ({}).", escape(&filter)),
        Tab::Waiting => "Nothing waits for you.".to_owned(),
        Tab::Notices => "No notices.".to_owned(),
        Tab::Aside => "Nothing is set aside.".to_owned(),
        Tab::Decided => "Nothing has been decided yet.".to_owned(),
        Tab::Found => format!("Nothing was found for {}.", escape(&state.query)),
    }
}

fn row(state: &State, seen: &Seen, is_chosen: bool, paint: Paint, most: usize) -> [Line<'static>; LINES_EACH] {
    let age = seen.item.created_at.age(state.now.at);
    let waited = duration_words(age);
    let (mark, urgency) = priority(&seen.item.priority, paint);
    let cursor = if is_chosen { "▌" } else { " " };
    let room = most.saturating_sub(5 + width(&waited) + 1);
    let title = cut(&escape(&seen.item.title), room);
    let gap = " ".repeat(room.saturating_sub(width(&title)) + 1);
    let style = match (is_chosen, state.is_busy(seen.id())) {
        (_, true) => paint.quiet(),
        (true, false) => paint.chosen(),
        (false, false) => paint.strong(),
    };
    let age_style = if seen.is_open() && !seen.is_notice() {
        paint.age(age)
    } else {
        paint.quiet()
    };
    let first = Line::from(vec![
        Span::raw(cursor),
        Span::styled(format!("{mark} "), urgency),
        Span::styled(title, style),
        Span::raw(gap),
        Span::styled(waited, age_style),
    ]);
    let about = cut(&about(state, seen), most.saturating_sub(5));
    [
        first,
        Line::from(vec![
            Span::raw(format!("{cursor}   ")),
            Span::styled(about, paint.quiet()),
        ]),
    ]
}

fn priority(priority: &str, paint: Paint) -> (&'static str, Style) {
    match priority {
        "urgent" => ("!!", paint.bad()),
        "high" => (" !", paint.warning()),
        "low" => (" -", paint.quiet()),
        _ => ("  ", paint.plain()),
    }
}

/// Who, what, and what happens next, or happened.
fn about(state: &State, seen: &Seen) -> String {
    let item = &seen.item;
    let project = item
        .agent
        .project
        .as_ref()
        .map(|project| format!("/{project}"))
        .unwrap_or_default();
    let mut words = vec![format!("{}{project}", item.asker()), item.kind().to_owned()];
    match (&item.resolution, &seen.more.until) {
        (Some(resolution), _) => {
            let at = time_words(&resolution.resolved_at, state.now.at, &state.zone);
            words.push(format!("{} at {at}", item.outcome_words().unwrap_or_default()));
        }
        (None, Some(until)) => words.push(format!("aside until {}", time_words(until, state.now.at, &state.zone))),
        (None, None) if seen.is_notice() => {}
        (None, None) => words.push(item.expiry_words(state.now.at)),
    }
    words.extend(item.presence_word().map(|word| format!("agent {word}")));
    if seen.is_open() && !seen.is_notice() && !item.can_answer {
        words.push("not yours to answer".to_owned());
    }
    words.extend((!item.tags.is_empty()).then(|| item.tags.join(" ")));
    escape(&words.join(" · "))
}
