//! The lines of one area, wrapped to its width, with the rows that must stay visible.

use ratatui::Frame;
use ratatui::layout::{Position, Rect};
use ratatui::style::Style;
use ratatui::text::{Line, Span, Text};

use super::Theme;
use super::wrap::{lay, width, wrap};
use crate::content::Piece;
use crate::text_input::TextInput;

const MARGIN: &str = "│ ";

/// The rows the person is working on.
#[derive(Clone, Copy)]
struct Focus {
    first: usize,
    last: usize,
    /// The row that must be visible even if the others do not fit.
    at: usize,
}

pub struct TextLayout {
    width: usize,
    theme: Theme,
    lines: Vec<Line<'static>>,
    focus: Option<Focus>,
    caret: Option<(usize, usize)>,
}

impl TextLayout {
    pub fn new(width: u16, theme: Theme) -> Self {
        Self {
            width: usize::from(width),
            theme,
            lines: Vec::new(),
            focus: None,
            caret: None,
        }
    }

    pub fn height(&self) -> usize {
        self.lines.len()
    }

    /// The columns of a row.
    pub fn room(&self) -> usize {
        self.width
    }

    pub fn blank(&mut self) {
        self.lines.push(Line::default());
    }

    pub fn add_text(&mut self, text: &str, style: Style) {
        self.add_hanging("", text, style);
    }

    /// `lead` precedes the first row; the other rows are indented below the text.
    pub fn add_hanging(&mut self, lead: &str, text: &str, style: Style) {
        let indent = width(lead);
        let rows = wrap(text, self.width.saturating_sub(indent));
        for (index, row) in rows.into_iter().enumerate() {
            let before = if index == 0 {
                lead.to_owned()
            } else {
                " ".repeat(indent)
            };
            self.lines
                .push(Line::from(vec![Span::styled(before, style), Span::styled(row, style)]));
        }
    }

    pub fn pieces(&mut self, pieces: &[Piece]) {
        for piece in pieces {
            let style = self.theme.tone(piece.tone);
            if !piece.quoted {
                self.add_text(&piece.text, style);
                continue;
            }
            for row in wrap(&piece.text, self.width.saturating_sub(width(MARGIN))) {
                let margin = Span::styled(MARGIN, self.theme.quiet());
                self.lines.push(Line::from(vec![margin, Span::styled(row, style)]));
            }
        }
    }

    /// A text input, with the caret while it is active.
    pub fn typing(&mut self, lead: &str, typing: &TextInput, style: Style, is_active: bool) {
        let indent = width(lead);
        let (before, after) = typing.shown();
        // The caret after the last letter of a full row needs a column of its own.
        let (rows, (row, column)) = lay(&before, &after, self.width.saturating_sub(indent + 1));
        let first = self.lines.len();
        for (index, text) in rows.into_iter().enumerate() {
            let before = if index == 0 {
                lead.to_owned()
            } else {
                " ".repeat(indent)
            };
            self.lines
                .push(Line::from(vec![Span::styled(before, style), Span::styled(text, style)]));
        }
        if is_active {
            self.caret = Some((first + row, indent + column));
            self.focus = Some(Focus {
                first: first + row,
                last: first + row,
                at: first + row,
            });
        }
    }

    /// Focuses all rows from `first` on, with priority for the caret's row.
    pub fn focus_from(&mut self, first: usize) {
        let caret = self.caret.map(|(row, _)| row).filter(|row| *row >= first);
        self.focus_at(first, caret.unwrap_or(first));
    }

    /// Like `focus_from`, with priority for the row `at`.
    pub fn focus_at(&mut self, first: usize, at: usize) {
        self.focus = Some(Focus {
            first,
            last: self.lines.len().saturating_sub(1),
            at,
        });
    }

    /// The first visible row, for content that only scrolls.
    pub fn scroll_to(&mut self, row: usize) {
        self.focus = Some(Focus {
            first: row,
            last: self.lines.len().saturating_sub(1),
            at: row,
        });
    }

    /// The offset that keeps the focus visible: first the priority row, then the start, then the end.
    fn offset(&self, height: usize) -> usize {
        let Some(Focus { first, last, at }) = self.focus else {
            return 0;
        };
        let whole = (last + 1).saturating_sub(height).min(first);
        whole.max((at + 1).saturating_sub(height))
    }

    pub fn draw(self, frame: &mut Frame, area: Rect) {
        let offset = self.offset(usize::from(area.height));
        self.draw_from(frame, area, offset);
    }

    pub fn draw_from(self, frame: &mut Frame, area: Rect, offset: usize) {
        self.mark_cuts(frame, area, offset);
        let caret = self.caret;
        let rows: Vec<Line> = self
            .lines
            .into_iter()
            .skip(offset)
            .take(usize::from(area.height))
            .collect();
        frame.render_widget(Text::from(rows), area);
        let Some((row, column)) = caret else { return };
        let place = row.checked_sub(offset).filter(|row| *row < usize::from(area.height));
        if let (Some(row), Ok(column)) = (place.and_then(|row| u16::try_from(row).ok()), u16::try_from(column)) {
            frame.set_cursor_position(Position {
                x: area.x + column.min(area.width.saturating_sub(1)),
                y: area.y + row,
            });
        }
    }

    /// Arrows beside the area mark hidden rows above and below.
    fn mark_cuts(&self, frame: &mut Frame, area: Rect, offset: usize) {
        if area.is_empty() || area.right() >= frame.area().right() {
            return;
        }
        let style = self.theme.strong();
        let buffer = frame.buffer_mut();
        if offset > 0 {
            buffer.set_string(area.right(), area.top(), "↑", style);
        }
        if self.height() > offset + usize::from(area.height) {
            buffer.set_string(area.right(), area.bottom() - 1, "↓", style);
        }
    }
}
