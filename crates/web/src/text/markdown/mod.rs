//! Markdown from agents: CommonMark with tables, task lists and strikethrough. Raw HTML is shown as text, and images are
//! not fetched before a person asks for them.

mod headings;
mod sanitize;
mod writer;

use pulldown_cmark::{Event, Options, Parser, Tag};

use self::writer::{HtmlWriter, MAX_EVENTS};
use super::safe_html::{HtmlBuilder, SafeHtml};

/// A longer text, or one with more markup than `HtmlWriter` accepts, is shown as plain text. Nothing is ever left out.
const MAX_BYTES: usize = 64 * 1024;
/// Limit of quote and list markers at the start of a line. The parser's work grows with markers times lines.
const MAX_MARKERS: usize = 100;

/// Renders a text whose images are links.
pub fn markdown(text: &str) -> SafeHtml {
    shown(text, HtmlWriter::default())
}

/// Renders a text whose images have buttons, for a page with the form of `text::image`.
pub fn markdown_with_images(text: &str) -> SafeHtml {
    shown(text, HtmlWriter::with_image_buttons())
}

fn shown(text: &str, writer: HtmlWriter) -> SafeHtml {
    let rendered = if is_within_limits(text) {
        render(text, writer)
    } else {
        None
    };
    rendered.unwrap_or_else(|| plain_text(text))
}

/// The addresses of all images of a text.
pub fn image_addresses(text: &str) -> Vec<String> {
    if !is_within_limits(text) {
        return Vec::new();
    }
    let images = parser(text).filter_map(|event| match event {
        Event::Start(Tag::Image { dest_url, .. }) => Some(dest_url.into_string()),
        _ => None,
    });
    images.collect()
}

fn parser(text: &str) -> Parser<'_> {
    let options = Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TASKLISTS;
    Parser::new_ext(text, options)
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

fn render(text: &str, writer: HtmlWriter) -> Option<SafeHtml> {
    let events: Vec<Event<'_>> = parser(text).take(MAX_EVENTS + 1).collect();
    let html = writer.write(events)?;
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
