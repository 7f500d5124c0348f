//! HTML that templates may print unescaped, and the only builder of it.

use std::fmt;

use askama::filters::HtmlSafe;
use countersign_protocol::escape;
use url::Url;

/// Escaped HTML. Only this folder can build it, and templates print it without escaping it again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SafeHtml(String);

impl SafeHtml {
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for SafeHtml {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl HtmlSafe for SafeHtml {}

/// Builder of `SafeHtml`. Markup must be `&'static`, so it can only come from the program itself; all other text is
/// escaped.
#[derive(Debug, Default)]
pub(super) struct HtmlBuilder(String);

impl HtmlBuilder {
    pub fn new() -> Self {
        Self::default()
    }

    pub fn markup(&mut self, markup: &'static str) {
        self.0.push_str(markup);
    }

    /// Appends text of one line.
    pub fn line(&mut self, text: &str) {
        self.encode(&escape::escape(text));
    }

    /// Appends text and keeps its line breaks.
    pub fn lines(&mut self, text: &str) {
        self.encode(&escape::escape_lines(text));
    }

    pub fn append(&mut self, safe: &SafeHtml) {
        self.0.push_str(&safe.0);
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    pub fn finish(self) -> SafeHtml {
        SafeHtml(self.0)
    }

    /// Finishes through a second, independent sanitizer, which can only remove markup.
    pub fn finish_sanitized(self, guard: &ammonia::Builder<'_>) -> SafeHtml {
        SafeHtml(guard.clean(&self.0).to_string())
    }

    /// Appends an address inside a double-quoted attribute. Quotes in the address are escaped and cannot end the
    /// attribute.
    pub fn address(&mut self, address: &Url) {
        for piece in address.as_str().split_inclusive('"') {
            let bare = piece.strip_suffix('"');
            self.encode(bare.unwrap_or(piece));
            self.0.push_str(if bare.is_some() { "&quot;" } else { "" });
        }
    }

    /// Quotes stay as they are: they are harmless between tags, and each entity costs the sanitizer a look-up.
    fn encode(&mut self, text: &str) {
        for letter in text.chars() {
            match letter {
                '&' => self.0.push_str("&amp;"),
                '<' => self.0.push_str("&lt;"),
                '>' => self.0.push_str("&gt;"),
                _ => self.0.push(letter),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use askama::Template;

    use super::*;

    #[derive(Template)]
    #[template(source = "{{ agent_text }}|{{ safe }}|{{ borrowed }}", ext = "html")]
    struct TestTemplate<'a> {
        agent_text: &'a str,
        safe: SafeHtml,
        borrowed: &'a SafeHtml,
    }

    #[test]
    fn quote_in_an_address_cannot_end_the_attribute() {
        let mut html = HtmlBuilder::new();
        html.address(&Url::parse("mailto:a\"b'<&\"").expect("an address"));
        assert_eq!(html.as_str().matches(['"', '<']).count(), 0, "{}", html.as_str());
    }

    #[test]
    fn template_escapes_agent_text_and_prints_safe_html() {
        let mut html = HtmlBuilder::new();
        html.markup("<b>");
        html.line("<i> & \"'\n\u{202e}");
        html.markup("</b>");
        let safe = html.finish();
        let page = TestTemplate {
            agent_text: "<b>",
            borrowed: &safe.clone(),
            safe,
        }
        .render()
        .expect("a page");
        let expected = "<b>&lt;i&gt; &amp; \"'\\n\\u{202e}</b>";
        assert_eq!(page, format!("&#60;b&#62;|{expected}|{expected}"));
    }
}
