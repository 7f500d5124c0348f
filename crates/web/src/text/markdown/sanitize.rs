//! The second layer of defence: an allow-list of tags and attributes, in case the writer ever lets something through.

use std::collections::{HashMap, HashSet};
use std::sync::LazyLock;

use ammonia::{Builder, UrlRelative};
use countersign_core::Language;

use crate::language::t;
use crate::layout::look::in_language;

const TAGS: &str = "a blockquote br button code del details div em h2 h3 h4 h5 h6 hr input li mark ol p pre span strong summary table tbody td th thead tr ul";

const SPAN_CLASSES: &str = "url image name badge sums plus minus c s n k y";

pub static GUARD: LazyLock<Builder<'static>> = LazyLock::new(|| {
    let mut builder = Builder::empty();
    builder
        .tags(TAGS.split(' ').collect())
        .tag_attributes(HashMap::from([
            ("a", HashSet::from(["href"])),
            ("button", HashSet::from(["value"])),
            ("details", HashSet::from(["open"])),
            ("div", HashSet::from(["data-n"])),
            ("input", HashSet::from(["disabled", "checked"])),
            ("ol", HashSet::from(["start"])),
        ]))
        .tag_attribute_values(fixed_values())
        .allowed_classes(HashMap::from([
            ("a", HashSet::from(["out"])),
            ("details", HashSet::from(["file"])),
            (
                "div",
                HashSet::from(["table", "diff", "lines", "add", "del", "same", "hunk", "meta"]),
            ),
            ("p", HashSet::from(["total"])),
            ("pre", HashSet::from(["raw"])),
            ("span", SPAN_CLASSES.split(' ').collect()),
            ("td", HashSet::from(["center", "right"])),
            ("th", HashSet::from(["center", "right"])),
        ]))
        .url_schemes(HashSet::from(["http", "https", "mailto"]))
        .url_relative(UrlRelative::Deny)
        .link_rel(None)
        .strip_comments(true);
    builder
});

/// Attributes that have one meaning here: of links, of image buttons, of the boxes of a task list.
fn fixed_values() -> HashMap<&'static str, HashMap<&'static str, HashSet<&'static str>>> {
    HashMap::from([
        (
            "a",
            HashMap::from([
                ("rel", HashSet::from(["noopener noreferrer nofollow ugc"])),
                ("target", HashSet::from(["_blank"])),
                ("referrerpolicy", HashSet::from(["no-referrer"])),
            ]),
        ),
        (
            "button",
            HashMap::from([
                ("type", HashSet::from(["submit"])),
                ("form", HashSet::from(["images"])),
                ("name", HashSet::from(["image"])),
            ]),
        ),
        (
            "input",
            HashMap::from([
                ("type", HashSet::from(["checkbox"])),
                ("aria-label", box_labels().collect()),
            ]),
        ),
    ])
}

fn box_labels() -> impl Iterator<Item = &'static str> {
    let labels = Language::ALL.map(|language| ["done", "not done"].map(|phrase| in_language(language, || t(phrase))));
    labels.into_iter().flatten()
}

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
