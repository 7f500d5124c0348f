//! Markdown from agents: CommonMark, tables and strikethrough. Raw HTML is text, images are not fetched.

mod clean;
mod writer;

use pulldown_cmark::{Options, Parser};

use self::writer::HtmlWriter;
use super::safe::{HtmlBuilder, SafeHtml};

/// What is longer, or takes more markup than `Writer` takes on, is shown as it was written: nothing is ever left out.
const MAX_BYTES: usize = 64 * 1024;
/// Quote marks and list markers before the text of one line. The parser's work grows with their number times the lines.
const MAX_MARKERS: usize = 100;

pub fn markdown(text: &str) -> SafeHtml {
    let rendered = if is_within_limits(text) { render(text) } else { None };
    rendered.unwrap_or_else(|| plain_text(text))
}

fn is_within_limits(text: &str) -> bool {
    text.len() <= MAX_BYTES && text.lines().all(|line| count_markers(line) <= MAX_MARKERS)
}

/// At least as many as the containers that the line opens: a quote mark stands by itself, a list marker before a blank.
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
    clean::is_cheap_to_clean(html.as_str()).then(|| html.finish_sanitized(&clean::GUARD))
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
