//! Markdown from agents: CommonMark with tables and strikethrough. Raw HTML is shown as text, and images are not
//! fetched.

mod sanitize;
mod writer;

use pulldown_cmark::{Options, Parser};

use self::writer::HtmlWriter;
use super::safe_html::{HtmlBuilder, SafeHtml};

/// A longer text, or one with more markup than `HtmlWriter` accepts, is shown as plain text. Nothing is ever left out.
const MAX_BYTES: usize = 64 * 1024;
/// Limit of quote and list markers at the start of a line. The parser's work grows with markers times lines.
const MAX_MARKERS: usize = 100;

pub fn markdown(text: &str) -> SafeHtml {
    let rendered = if is_within_limits(text) { render(text) } else { None };
    rendered.unwrap_or_else(|| plain_text(text))
}

fn is_within_limits(text: &str) -> bool {
    text.len() <= MAX_BYTES && text.lines().all(|line| count_markers(line) <= MAX_MARKERS)
}

/// Counts at least as many markers as the line opens containers: any `>`, and a list marker followed by a blank.
fn count_markers(line: &str) -> usize {
    let mut count = 0;
    let mut letters = line.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            '>' => count += 1,
            '-' | '+' | '*' | '.' | ')' => {
                count += usize::from(letters.peek().is_some_and(|next| next.is_whitespace()))
            }
            _ if letter.is_ascii_digit() || letter.is_whitespace() => {}
            _ => break,
        }
    }
    count
}

fn render(text: &str) -> Option<SafeHtml> {
    let parser = Parser::new_ext(text, Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH);
    let html = HtmlWriter::default().write(parser)?;
    sanitize::is_cheap_to_clean(html.as_str()).then(|| html.finish_sanitized(&sanitize::GUARD))
}

fn plain_text(text: &str) -> SafeHtml {
    let mut html = HtmlBuilder::new();
    html.markup(r#"<pre class="plain">"#);
    html.lines(text);
    html.markup("</pre>");
    html.finish()
}

#[cfg(test)]
mod tests;
