//! Images of agents. The page only names them; a button asks the hub to fetch one. All buttons of a page belong to the
//! form with the id `images`, which the page has once.

use countersign_core::Digest;

use super::link::LinkTarget;
use super::safe_html::{HtmlBuilder, SafeHtml};
use crate::language::{say, t};

/// Letters of the digest in a button, which are enough to tell images apart.
const KEY_CHARS: usize = 32;

/// The name of an image in a form: a digest of its address, because an address can be long.
pub fn image_key(address: &str) -> String {
    let mut key = Digest::of(address.as_bytes()).to_string();
    key.truncate(KEY_CHARS);
    key
}

/// True if the hub can show this address as an image.
pub fn is_image_address(address: &str) -> bool {
    LinkTarget::new(address).is_image()
}

/// The button and the address of an image outside of Markdown.
pub fn image(address: &str, label: &str) -> SafeHtml {
    let mut html = HtmlBuilder::new();
    write_button(&mut html, &LinkTarget::new(address), label);
    html.finish()
}

pub(super) fn write_button(html: &mut HtmlBuilder, address: &LinkTarget, alt: &str) {
    html.markup(r#"<span class="image"><button type="submit" form="images" name="image" value=""#);
    html.line(&image_key(address.original()));
    html.markup(r#"">"#);
    if alt.trim().is_empty() {
        html.line(t("Show image"));
    } else {
        html.line(&say!("Show image: {alt}", alt = alt));
    }
    html.markup("</button> ");
    if address.is_data() {
        html.markup(r#"<span class="url">"#);
        html.line(t("inside of this message"));
        html.markup("</span>");
    } else {
        address.open(html);
        address.close(html, "");
    }
    html.markup("</span>");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_image_is_a_button_and_its_address() {
        let html = image("https://a.example/p.png", "a \"cat\"<b>\u{202e}").to_string();
        let key = image_key("https://a.example/p.png");
        assert!(
            html.starts_with(&format!(
                r#"<span class="image"><button type="submit" form="images" name="image" value="{key}">Show image: a "cat"&lt;b&gt;\u{{202e}}</button> <a href="https://a.example/p.png""#
            )),
            "{html}"
        );
        assert!(html.ends_with(">https://a.example/p.png</a></span>"), "{html}");
        assert_eq!((key.len(), html.contains("<img")), (KEY_CHARS, false));
    }

    #[test]
    fn an_image_inside_of_the_message_has_no_link() {
        let html = image(&format!("data:image/png;base64,{}", "A".repeat(5000)), "").to_string();
        assert!(
            html.ends_with(r#"">Show image</button> <span class="url">inside of this message</span></span>"#),
            "{html}"
        );
        assert!(html.len() < 300, "{html}");
    }
}
