//! Markdown from agents: CommonMark, tables and strikethrough. Raw HTML is text, images are not fetched.

mod clean;
mod writer;

use pulldown_cmark::{Options, Parser};

use self::writer::Writer;
use super::safe::{Html, Safe};

/// What is longer, or takes more markup than `Writer` takes on, is shown as it was written: nothing is ever left out.
const MAX_BYTES: usize = 64 * 1024;
/// Quote marks and list markers before the text of one line. The parser's work grows with their number times the lines.
const MAX_MARKERS: usize = 100;

pub fn markdown(text: &str) -> Safe {
    let rendered = if is_reasonable(text) { render(text) } else { None };
    rendered.unwrap_or_else(|| as_written(text))
}

fn is_reasonable(text: &str) -> bool {
    text.len() <= MAX_BYTES && text.lines().all(|line| markers(line) <= MAX_MARKERS)
}

/// At least as many as the containers that the line opens: a quote mark stands by itself, a list marker before a blank.
fn markers(line: &str) -> usize {
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

fn render(text: &str) -> Option<Safe> {
    let parser = Parser::new_ext(text, Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH);
    let html = Writer::default().write(parser)?;
    clean::is_quick(html.as_str()).then(|| html.finish_through(&clean::GUARD))
}

fn as_written(text: &str) -> Safe {
    let mut html = Html::new();
    html.markup(r#"<pre class="plain">"#);
    html.lines(text);
    html.markup("</pre>");
    html.finish()
}

#[cfg(test)]
mod tests;
