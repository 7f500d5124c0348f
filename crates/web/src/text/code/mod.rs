//! Syntax colours for code: a small scanner that knows comments, texts, numbers, keywords and keys. It reads each
//! letter once, and what it does not understand keeps the colour of the page.

mod languages;
mod scanner;

use std::ops::Range;

use self::languages::Language;
use super::safe_html::HtmlBuilder;

/// Coloured pieces of one text. The rest of a text with more of them has no colours.
const MAX_PIECES: usize = 4000;

/// HTML of this size gets no more colours, because each piece takes several times its own length.
const MAX_COLOURED_BYTES: usize = 256 * 1024;

/// The purpose of a piece of code. The stylesheet gives it a colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    Comment,
    Text,
    Number,
    Keyword,
    /// A name that is given a value or names an element: a key, an attribute, a tag.
    Key,
}

impl Purpose {
    fn markup(self) -> &'static str {
        match self {
            Self::Comment => r#"<span class="c">"#,
            Self::Text => r#"<span class="s">"#,
            Self::Number => r#"<span class="n">"#,
            Self::Keyword => r#"<span class="k">"#,
            Self::Key => r#"<span class="y">"#,
        }
    }
}

/// Code with the places of its coloured pieces, in order and without overlaps.
pub struct ColouredCode<'t> {
    text: &'t str,
    pieces: Vec<(Range<usize>, Purpose)>,
}

/// A language that the scanner knows.
#[derive(Clone, Copy)]
pub struct KnownLanguage(&'static Language);

impl KnownLanguage {
    /// The language of a fenced block, by the first word after its fence.
    pub fn by_name(name: &str) -> Option<Self> {
        languages::by_name(&name.to_ascii_lowercase()).map(Self)
    }

    /// The language of a file, by its name.
    pub fn by_path(path: &str) -> Option<Self> {
        let file = path.rsplit('/').next().unwrap_or(path).to_ascii_lowercase();
        let ending = file.rsplit_once('.').map(|(_, ending)| ending);
        let by_file = file.starts_with("dockerfile").then_some("dockerfile");
        languages::by_name(by_file.or(ending)?).map(Self)
    }
}

impl<'t> ColouredCode<'t> {
    pub fn new(text: &'t str, language: Option<KnownLanguage>) -> Self {
        let pieces = language.map(|language| scanner::pieces(text, language.0, MAX_PIECES));
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
            html.markup(purpose.markup());
            html.lines(&self.text[start..end]);
            html.markup("</span>");
            at = end;
        }
        html.lines(&self.text[at..range.end]);
    }
}

#[cfg(test)]
mod tests;
