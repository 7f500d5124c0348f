//! HTML that may be printed as it is, and the one way to make it.

use std::fmt;

use askama::filters::HtmlSafe;
use countersign_protocol::visible;
use url::Url;

/// HTML made in this folder and nowhere else; templates print it without escaping it again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Safe(String);

impl Safe {
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Safe {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl HtmlSafe for Safe {}

/// Markup comes from this program's own text alone, which `&'static` ensures. All else is escaped on its way in.
#[derive(Debug, Default)]
pub(super) struct Html(String);

impl Html {
    pub fn new() -> Self {
        Self::default()
    }

    pub fn markup(&mut self, markup: &'static str) {
        self.0.push_str(markup);
    }

    /// Text of one line.
    pub fn line(&mut self, text: &str) {
        self.encode(&visible::escape(text));
    }

    /// Text that keeps its line breaks.
    pub fn lines(&mut self, text: &str) {
        self.encode(&visible::escape_lines(text));
    }

    pub fn append(&mut self, safe: &Safe) {
        self.0.push_str(&safe.0);
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    pub fn finish(self) -> Safe {
        Safe(self.0)
    }

    /// Through a second, independent guard, which may only take away.
    pub fn finish_through(self, guard: &ammonia::Builder<'_>) -> Safe {
        Safe(guard.clean(&self.0).to_string())
    }

    /// An address between the double quotes of an attribute; a quote in it cannot end it.
    pub fn address(&mut self, address: &Url) {
        for piece in address.as_str().split_inclusive('"') {
            let bare = piece.strip_suffix('"');
            self.encode(bare.unwrap_or(piece));
            self.0.push_str(if bare.is_some() { "&quot;" } else { "" });
        }
    }

    /// Between tags quotes mean nothing, and every entity costs the guard a look-up.
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
    #[template(source = "{{ theirs }}|{{ ours }}|{{ lent }}", ext = "html")]
    struct Page<'a> {
        theirs: &'a str,
        ours: Safe,
        lent: &'a Safe,
    }

    #[test]
    fn an_address_stays_within_its_quotes() {
        let mut html = Html::new();
        html.address(&Url::parse("mailto:a\"b'<&\"").expect("an address"));
        assert_eq!(html.as_str().matches(['"', '<']).count(), 0, "{}", html.as_str());
    }

    #[test]
    fn a_template_escapes_theirs_and_prints_ours() {
        let mut html = Html::new();
        html.markup("<b>");
        html.line("<i> & \"'\n\u{202e}");
        html.markup("</b>");
        let ours = html.finish();
        let page = Page {
            theirs: "<b>",
            lent: &ours.clone(),
            ours,
        }
        .render()
        .expect("a page");
        let expected = "<b>&lt;i&gt; &amp; \"'\\n\\u{202e}</b>";
        assert_eq!(page, format!("&#60;b&#62;|{expected}|{expected}"));
    }
}
