//! The state as a picture. Nothing is decided here; what does not fit is cut or scrolled.

mod editor;
mod hints;
mod item;
mod list;
mod overlay;
mod paint;
mod panel;
mod sheet;
mod wrap;

use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::Style;
use ratatui::text::{Line, Span};

use super::state::{Link, State, Tab, Weight};
use crate::screen::escape;

pub use paint::Paint;
use sheet::Sheet;

/// Below this the tabs need the place of the program's name.
const ROOMY: u16 = 80;

/// Scrolling is bounded here, where the size of things is known.
pub fn draw(frame: &mut Frame, state: &mut State, paint: Paint) {
    let rows = [Constraint::Length(1), Constraint::Min(1), Constraint::Length(1)];
    let [head, body, foot] = Layout::vertical(rows).areas(frame.area());
    frame.render_widget(head_line(state, paint, head.width), head);
    match &state.open {
        Some(_) => item::draw(frame, state, paint, body),
        None => list::draw(frame, state, paint, body),
    }
    frame.render_widget(foot_line(state, paint, foot.width), foot);
    overlay::draw(frame, state, paint, body);
}

fn head_line(state: &State, paint: Paint, width: u16) -> Line<'static> {
    let mut spans = Vec::new();
    if width >= ROOMY {
        spans.push(Span::styled(" Countersign ", paint.strong()));
    }
    for tab in Tab::ALL {
        if tab == Tab::Found && state.query.is_empty() {
            continue;
        }
        let style = if tab == state.tab { paint.chosen() } else { paint.quiet() };
        spans.push(Span::styled(format!(" {} ", tab_words(state, tab)), style));
    }
    let (words, style) = match &state.link {
        Link::Connecting => ("connecting", paint.warning()),
        Link::Live => ("live", paint.good()),
        Link::Lost(_) => ("reconnecting", paint.bad()),
    };
    let used: usize = spans.iter().map(Span::width).sum();
    let gap = usize::from(width).saturating_sub(used + words.len() + 1);
    spans.push(Span::raw(" ".repeat(gap.max(1))));
    spans.push(Span::styled(words, style));
    Line::from(spans)
}

fn tab_words(state: &State, tab: Tab) -> String {
    let list = state.list(tab);
    let count = format!("{}{}", list.len(), if list.has_more() { "+" } else { "" });
    match tab {
        Tab::Waiting => format!("Waiting {count}"),
        Tab::Notices => format!("Notices {count}"),
        Tab::Aside => "Aside".to_owned(),
        Tab::Decided => "Decided".to_owned(),
        Tab::Found => "Found".to_owned(),
    }
}

fn foot_line(state: &State, paint: Paint, width: u16) -> Line<'static> {
    let (text, style) = match (&state.said, &state.link) {
        (Some(said), _) => (escape(&said.text), said_style(said.weight, paint)),
        (None, Link::Lost(why)) => (format!("reconnecting: {}", escape(why)), paint.bad()),
        (None, Link::Connecting | Link::Live) => (hints::hints(state), paint.quiet()),
    };
    Line::styled(format!(" {}", wrap::cut(&text, usize::from(width).saturating_sub(2))), style)
}

fn said_style(weight: Weight, paint: Paint) -> Style {
    match weight {
        Weight::Hint => paint.warning(),
        Weight::News => paint.strong(),
        Weight::Error => paint.bad(),
    }
}

/// A box of the wanted size in the middle, or as much of it as there is room for.
fn middle(area: Rect, width: u16, height: u16) -> Rect {
    let (width, height) = (width.min(area.width), height.min(area.height));
    let (left, top) = ((area.width - width) / 2, (area.height - height) / 2);
    Rect { x: area.x + left, y: area.y + top, width, height }
}

#[cfg(test)]
mod tests;
