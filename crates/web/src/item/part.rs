//! The parts of a message's context, rendered by kind. Nothing is fetched before a person asks for it.

use countersign_protocol::escape;
use serde_json::Value;
use url::Url;

use crate::text::{self, SafeHtml};

/// A longer address is shown in a block of its own.
const MAX_LINK_CHARS: usize = 200;
/// Limit of the raw text; the tree shows all data.
const MAX_RAW_BYTES: usize = 64 * 1024;

pub struct ContextPart {
    pub shown: PartContent,
    /// The agent's metadata of the part.
    pub metadata: Option<SafeHtml>,
}

pub enum PartContent {
    Text(SafeHtml),
    Diff(SafeHtml),
    Data { tree: SafeHtml, raw: RawJson },
    File(FilePart),
}

pub struct RawJson {
    pub text: String,
    /// Only the beginning is shown.
    pub is_cut: bool,
}

pub struct FilePart {
    pub name: Option<String>,
    pub mime_type: Option<String>,
    pub address: String,
    /// The address is too long to be shown in a link.
    pub is_long: bool,
    /// For http and https addresses only.
    pub link: Option<SafeHtml>,
    /// A button that shows the file, if it is an image.
    pub image: Option<SafeHtml>,
}

pub fn part(value: &Value) -> ContextPart {
    let metadata = value.get("metadata");
    let shown = match value["kind"].as_str() {
        Some("text") => text_part(value["text"].as_str().unwrap_or_default(), metadata),
        Some("data") => data(&value["data"]),
        Some("file") => PartContent::File(file(&value["file"])),
        // An unknown kind is shown as data.
        Some(_) | None => data(value),
    };
    let has_any = |metadata: &&Value| metadata.as_object().is_some_and(|members| !members.is_empty());
    ContextPart {
        shown,
        metadata: metadata.filter(has_any).map(text::tree),
    }
}

fn text_part(source: &str, metadata: Option<&Value>) -> PartContent {
    if text::looks_like_diff(source, metadata) {
        PartContent::Diff(text::diff(source))
    } else {
        PartContent::Text(text::markdown_with_images(source))
    }
}

fn file(value: &Value) -> FilePart {
    let word = |key: &str| value[key].as_str().filter(|word| !word.is_empty()).map(str::to_owned);
    let address = word("uri").unwrap_or_default();
    let is_web = Url::parse(&address).is_ok_and(|url| matches!(url.scheme(), "http" | "https"));
    FilePart {
        name: word("name"),
        image: image_file(value).map(|address| text::image(address, "")),
        mime_type: word("mime_type"),
        link: is_web.then(|| text::link("", &address)),
        is_long: address.chars().count() > MAX_LINK_CHARS,
        address,
    }
}

/// The address of a file that is an image by its declared type.
fn image_file(file: &Value) -> Option<&str> {
    let is_image = file["mime_type"]
        .as_str()
        .is_some_and(|mime_type| mime_type.to_ascii_lowercase().starts_with("image/"));
    let address = file["uri"].as_str().filter(|_| is_image)?;
    text::is_image_address(address).then_some(address)
}

/// The addresses of all images of a part, as `part` has buttons for them.
pub fn images(value: &Value) -> Vec<String> {
    match value["kind"].as_str() {
        Some("text") => text::image_addresses(value["text"].as_str().unwrap_or_default()),
        Some("file") => image_file(&value["file"]).map(str::to_owned).into_iter().collect(),
        Some(_) | None => Vec::new(),
    }
}

fn data(value: &Value) -> PartContent {
    PartContent::Data {
        tree: text::tree(value),
        raw: raw(value),
    }
}

/// The same JSON, with hidden characters escaped.
fn raw(value: &Value) -> RawJson {
    let text = text::json(value);
    let end = text.floor_char_boundary(MAX_RAW_BYTES);
    let shown = text[..end].lines().map(escape::escape_json).collect::<Vec<_>>();
    RawJson {
        text: shown.join("\n"),
        is_cut: end < text.len(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn link(uri: &str) -> Option<String> {
        match part(&json!({"kind": "file", "file": {"uri": uri}})).shown {
            PartContent::File(file) => file.link.map(|link| link.to_string()),
            _ => panic!("no file"),
        }
    }

    #[test]
    fn only_http_addresses_are_links() {
        assert!(
            link("https://files.example/plan.pdf").is_some_and(|html| html.contains("href=\"https://files.example/"))
        );
        for other in [
            "mailto:a@b.example",
            "javascript:alert(1)",
            "file:///etc/passwd",
            "s3://bucket/key",
            "urn:x:y",
        ] {
            assert_eq!(link(other), None, "{other}");
        }
    }

    #[test]
    fn diff_part_is_recognized_by_text_or_metadata() {
        let patch = "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-old\n+new\n";
        let shown = |part_of: Value| part(&part_of).shown;
        assert!(matches!(
            shown(json!({"kind": "text", "text": patch})),
            PartContent::Diff(_)
        ));
        let named = json!({"kind": "text", "text": "+x", "metadata": {"format": "diff"}});
        assert!(matches!(shown(named), PartContent::Diff(_)));
        assert!(matches!(
            shown(json!({"kind": "text", "text": "- a list\n- of two"})),
            PartContent::Text(_)
        ));
    }

    #[test]
    fn raw_data_is_the_same_json_with_hidden_characters_escaped() {
        let data = json!({"a\u{202e}": ["x\u{200b}", {"b": 1}]});
        let PartContent::Data { raw, .. } = part(&json!({"kind": "data", "data": data})).shown else {
            panic!("no data")
        };
        assert!(
            !raw.is_cut && !raw.text.contains(['\u{202e}', '\u{200b}']),
            "{}",
            raw.text
        );
        assert_eq!(serde_json::from_str::<Value>(&raw.text).expect("JSON"), data);
    }

    #[test]
    fn deeply_nested_data_stays_within_the_page_limits() {
        let mut deep = json!("ä");
        (0..100).for_each(|_| deep = json!([deep]));
        let data = json!(vec![deep; 2_000]);
        let sent = data.to_string().len();
        let PartContent::Data { tree, raw } = part(&json!({"kind": "data", "data": data})).shown else {
            panic!("no data")
        };
        assert!(
            raw.is_cut && raw.text.len() <= MAX_RAW_BYTES,
            "{} of {sent}",
            raw.text.len()
        );
        assert!(tree.as_str().len() < 2 * sent, "{} of {sent}", tree.as_str().len());
    }
}
