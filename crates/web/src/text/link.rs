//! External links. They come unchecked from agents, so each link shows its real target beside its text.

use url::Url;

use super::safe_html::{HtmlBuilder, SafeHtml};

/// Enough for the host, which comes first and has at most 253 characters, and part of the path.
const MAX_SHOWN_CHARS: usize = 300;

/// Renders a link; `label` and `address` both come from the agent.
pub fn link(label: &str, address: &str) -> SafeHtml {
    let mut html = HtmlBuilder::new();
    let address = LinkTarget::new(address);
    address.open(&mut html);
    html.line(label);
    address.close(&mut html, label);
    html.finish()
}

pub(super) struct LinkTarget {
    original: String,
    url: Option<Url>,
}

impl LinkTarget {
    pub fn new(original: &str) -> Self {
        Self {
            original: original.to_owned(),
            url: external_url(original),
        }
    }

    pub fn original(&self) -> &str {
        &self.original
    }

    /// True for an image that the message contains itself.
    pub fn is_data(&self) -> bool {
        let start = self.original.get(..11).unwrap_or_default();
        start.eq_ignore_ascii_case("data:image/")
    }

    /// True if the hub can show this address as an image.
    pub fn is_image(&self) -> bool {
        self.is_data() || self.url.as_ref().is_some_and(|url| url.scheme() != "mailto")
    }

    pub fn open(&self, html: &mut HtmlBuilder) {
        let Some(url) = &self.url else { return };
        html.markup(r#"<a href=""#);
        html.address(url);
        html.markup(
            r#"" rel="noopener noreferrer nofollow ugc" target="_blank" class="out" referrerpolicy="no-referrer">"#,
        );
    }

    /// Ends the link and shows its target. `text` is the text that was written since `open`.
    pub fn close(&self, html: &mut HtmlBuilder, text: &str) {
        if self.url.is_some() {
            if text.trim().is_empty() {
                html.line(&self.shown());
            }
            html.markup("</a>");
        }
        if !self.is_visible_in(text) {
            html.markup(r#" <span class="url">("#);
            html.line(&self.shown());
            html.markup(")</span>");
        }
    }

    /// The address that a browser would open. Its host is in ASCII form (punycode), so that look-alike letters of other
    /// scripts cannot pose as Latin ones. An address that cannot be opened is shown as given.
    pub fn shown(&self) -> String {
        let address = self.url.as_ref().map_or(self.original.as_str(), Url::as_str);
        match address.char_indices().nth(MAX_SHOWN_CHARS) {
            Some((end, _)) => format!("{}…", &address[..end]),
            None => address.to_owned(),
        }
    }

    fn is_visible_in(&self, text: &str) -> bool {
        match &self.url {
            None => text == self.original,
            Some(_) if text.trim().is_empty() => true,
            Some(url) if url.scheme() == "mailto" => {
                text == url.as_str() || Some(text) == url.as_str().strip_prefix("mailto:")
            }
            Some(url) => text == url.as_str() || (url.path() == "/" && Some(text) == url.as_str().strip_suffix('/')),
        }
    }
}

/// Accepts http, https and mailto. Credentials in the URL are refused, because `https://bank.example@evil.example` is
/// made to deceive.
fn external_url(address: &str) -> Option<Url> {
    let url = Url::parse(address).ok()?;
    let is_plain = url.username().is_empty() && url.password().is_none();
    match url.scheme() {
        "http" | "https" => Some(url).filter(|url| url.has_host() && is_plain),
        "mailto" => Some(url),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rendered(label: &str, address: &str) -> String {
        let html = link(label, address).to_string();
        let attributes =
            r#" rel="noopener noreferrer nofollow ugc" target="_blank" class="out" referrerpolicy="no-referrer""#;
        html.replace(attributes, "")
    }

    #[test]
    fn link_shows_its_target() {
        let expected = r#"<a href="https://a.example/b?c">report</a> <span class="url">(https://a.example/b?c)</span>"#;
        assert_eq!(rendered("report", "https://a.example/b?c"), expected);
        let posing = rendered("https://bank.example", "https://evil.example");
        assert!(
            posing.ends_with(r#"<span class="url">(https://evil.example/)</span>"#),
            "{posing}"
        );
    }

    #[test]
    fn address_that_is_its_own_text_is_not_repeated() {
        assert_eq!(
            rendered("https://a.example", "https://a.example"),
            r#"<a href="https://a.example/">https://a.example</a>"#
        );
        assert_eq!(
            rendered("", "https://a.example"),
            r#"<a href="https://a.example/">https://a.example/</a>"#
        );
        assert_eq!(
            rendered("a@b.example", "mailto:a@b.example"),
            r#"<a href="mailto:a@b.example">a@b.example</a>"#
        );
    }

    #[test]
    fn unsafe_addresses_are_shown_as_text_only() {
        for address in [
            "javascript:alert(1)",
            "JaVaScRiPt:alert(1)",
            " java\tscript:alert(1)",
            "data:text/html,<script>",
            "vbscript:x",
            "file:///etc/passwd",
            "//evil.example",
            "/inbox",
            "#top",
            "https://bank.example@evil.example/",
            "https://user:secret@evil.example/",
            "https://",
            "blob:https://a.example/1",
        ] {
            let html = rendered("x", address);
            assert!(
                !html.contains("<a") && html.starts_with(r#"x <span class="url">("#),
                "{html}"
            );
        }
    }

    #[test]
    fn look_alike_letters_do_not_pose_as_a_known_host() {
        let html = rendered("https://аpple.example", "https://аpple.example");
        assert!(html.contains(r#"href="https://xn--pple-43d.example/""#), "{html}");
        assert!(html.ends_with("(https://xn--pple-43d.example/)</span>"), "{html}");
    }

    #[test]
    fn a_long_address_still_shows_its_host() {
        let html = rendered("x", &format!("https://evil.example/{}", "a".repeat(5000)));
        assert!(
            html.contains("(https://evil.example/aaa") && html.ends_with("…)</span>"),
            "{html}"
        );
        let data = rendered("x", &format!("data:text/plain,{}", "é".repeat(5000)));
        assert!(data.chars().count() < 400, "{data}");
    }
}
