//! The second layer of defence: an allow-list of tags and attributes, in case the writer ever lets something through.

use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

use ammonia::{Builder, UrlRelative};

const TAGS: &str = "a blockquote br code del details div em h3 h4 h5 h6 hr li ol p pre span strong summary table tbody td th thead tr ul";

pub static GUARD: LazyLock<Builder<'static>> = LazyLock::new(|| {
    let mut builder = Builder::empty();
    builder
        .tags(TAGS.split(' ').collect())
        .tag_attributes(HashMap::from([
            ("a", HashSet::from(["href"])),
            ("ol", HashSet::from(["start"])),
        ]))
        .tag_attribute_values(HashMap::from([(
            "a",
            HashMap::from([
                ("rel", HashSet::from(["noopener noreferrer nofollow ugc"])),
                ("target", HashSet::from(["_blank"])),
                ("referrerpolicy", HashSet::from(["no-referrer"])),
            ]),
        )]))
        .allowed_classes(HashMap::from([
            ("a", HashSet::from(["out"])),
            ("div", HashSet::from(["table"])),
            ("pre", HashSet::from(["diff", "raw"])),
            ("span", HashSet::from(["url", "add", "del", "hunk", "meta"])),
            ("td", HashSet::from(["center", "right"])),
            ("th", HashSet::from(["center", "right"])),
        ]))
        .url_schemes(HashSet::from(["http", "https", "mailto"]))
        .url_relative(UrlRelative::Deny)
        .link_rel(None)
        .strip_comments(true);
    builder
});

/// For every ampersand, and every byte that may begin a no-break space, the sanitizer's printer scans the text up to
/// the next tag or angle bracket. Scanning this many bytes is still quick.
const MAX_BYTES_SCANNED: usize = 200_000_000;

pub fn is_cheap_to_clean(html: &str) -> bool {
    let mut scanned = 0;
    let mut length = 0;
    let mut stops = 0;
    for (at, byte) in html.bytes().enumerate() {
        length += 1;
        match byte {
            b'&' if html[at..].starts_with("&amp;") => stops += 1,
            0xc2 => stops += 1,
            b'<' => scanned += std::mem::take(&mut length) * std::mem::take(&mut stops),
            b'&' if html[at..].starts_with("&lt;") || html[at..].starts_with("&gt;") => {
                scanned += std::mem::take(&mut length) * std::mem::take(&mut stops);
            }
            _ => {}
        }
    }
    scanned + length * stops <= MAX_BYTES_SCANNED
}
