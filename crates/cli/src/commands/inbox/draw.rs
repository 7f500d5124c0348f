//! The state as a picture. Nothing is decided here; what does not fit is cut or scrolled.

mod editor;
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

use super::answer::Editor;
use super::state::{Ending, Link, Open, Overlay, State, Tab, Weight};
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
        (None, Link::Connecting | Link::Live) => (hints(state).to_owned(), paint.quiet()),
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

/// The keys that matter now; the others are in the help.
fn hints(state: &State) -> &'static str {
    match (&state.overlay, &state.open) {
        (Some(Overlay::Help), _) => "any key closes the help",
        (Some(Overlay::Search(_)), _) => "Enter searches everything  Esc ends the search",
        (Some(Overlay::Comment(_)), _) => "Enter keeps the comment  Ctrl-J new line",
        (Some(Overlay::Reject(reject)), _) if reject.typing => "Enter sends it  Esc back to the reasons",
        (Some(Overlay::Reject(_)), _) => "1-9 j k pick  Enter sends it  Esc back",
        (Some(Overlay::Aside { .. }), _) => "1-9 j k pick  Enter sets aside  Esc back",
        (None, Some(open)) => item_hints(open),
        (None, None) if state.tab == Tab::Notices => {
            "? help  Enter open  e archive  u take back  n waiting  / search  q quit"
        }
        (None, None) if state.tab == Tab::Aside => "? help  Enter open  u take back  Tab next list  q quit",
        (None, None) => "? help  Enter open  s set aside  / search  n notices  Tab next list  q quit",
    }
}

fn item_hints(open: &Open) -> &'static str {
    if open.seen.is_notice() {
        return "? help  e archive  Enter next  Esc back  q quit";
    }
    match (&open.editor, open.ending) {
        _ if open.sending => "sending",
        (_, Ending::Past) => "? help  j k scroll  Esc back  q quit",
        (_, Ending::Mine | Ending::Theirs { .. } | Ending::Unclear) => "? help  Enter next one  Esc back  q quit",
        (Editor::Form(form), Ending::None) if form.is_editing() => {
            "Tab next field  Enter next or send  Space changes a pick  Esc stop typing"
        }
        (Editor::Text(_), Ending::None) if open.is_typing() => "Enter send  Ctrl-J new line  Esc stop typing",
        (Editor::Choice(_), Ending::None) if open.is_typing() => "Enter send  Esc stop typing",
        (Editor::Choice(pick), Ending::None) if pick.approve().is_some() => {
            "? help  1-9 pick  Enter send  a approve  r reject  c comment  s aside"
        }
        (Editor::Choice(_), Ending::None) => "? help  1-9 pick  Enter send  r reject  c comment  s aside  Esc back",
        (Editor::Many(_), Ending::None) => "? help  1-9 Space tick  Enter send  r reject  c comment  s aside  Esc back",
        (Editor::Text(_), Ending::None) => "? help  Enter type the answer  r reject  c comment  s aside  Esc back",
        (Editor::Form(_), Ending::None) => "? help  Enter fill in  r reject  c comment  s aside  Esc back",
        (Editor::Task(_), Ending::None) => "? help  Space tick  a complete  r dismiss  c comment  s aside  Esc back",
        (Editor::Nothing, Ending::None) => "? help  j k scroll  s aside  Esc back  q quit",
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
