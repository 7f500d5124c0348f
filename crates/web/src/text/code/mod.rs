//! Code as HTML, with syntax colours.

use std::ops::Range;

use countersign_highlight::{KnownLanguage, Purpose};

use super::safe_html::HtmlBuilder;

/// Coloured pieces of one text. The rest of a text with more of them has no colours.
const MAX_PIECES: usize = 4000;

/// HTML of this size gets no more colours, because each piece takes several times its own length.
const MAX_COLOURED_BYTES: usize = 256 * 1024;

/// The stylesheet gives each class a colour.
fn markup(purpose: Purpose) -> &'static str {
    match purpose {
        Purpose::Comment => r#"<span class="c">"#,
        Purpose::Text => r#"<span class="s">"#,
        Purpose::Number => r#"<span class="n">"#,
        Purpose::Keyword => r#"<span class="k">"#,
        Purpose::Key => r#"<span class="y">"#,
    }
}

/// Code with the places of its coloured pieces, in order and without overlaps.
pub struct ColouredCode<'t> {
    text: &'t str,
    pieces: Vec<(Range<usize>, Purpose)>,
}

impl<'t> ColouredCode<'t> {
    pub fn new(text: &'t str, language: Option<KnownLanguage>) -> Self {
        let pieces = language.map(|language| language.pieces(text, MAX_PIECES));
        Self {
            text,
            pieces: pieces.unwrap_or_default(),
        }
    }

    pub fn write(&self, html: &mut HtmlBuilder) {
        self.write_range(html, 0..self.text.len());
    }

    /// Writes a part of the code. Both ends must be at letter boundaries.
    pub fn write_range(&self, html: &mut HtmlBuilder, range: Range<usize>) {
        let mut at = range.start;
        let pieces = if html.as_str().len() < MAX_COLOURED_BYTES {
            self.pieces.as_slice()
        } else {
            &[]
        };
        let first = pieces.partition_point(|(piece, _)| piece.end <= range.start);
        for (piece, purpose) in pieces.iter().skip(first) {
            let start = piece.start.max(range.start);
            let end = piece.end.min(range.end);
            if start >= end {
                break;
            }
            html.lines(&self.text[at..start]);
            html.markup(markup(*purpose));
            html.lines(&self.text[start..end]);
            html.markup("</span>");
            at = end;
        }
        html.lines(&self.text[at..range.end]);
    }
}

#[cfg(test)]
mod tests;
