//! JSON as a collapsible tree. Values too large or too deep for the tree are shown as text, without omissions.

use serde_json::Value;

use super::safe_html::{HtmlBuilder, SafeHtml};

const MAX_NODES: usize = 2000;
const MAX_DEPTH: usize = 20;
/// Levels that start open; below them only nodes with few entries do.
const OPEN_DEPTH: usize = 2;
const FEW_ENTRIES: usize = 5;
/// JSON text is pretty-printed down to this depth; deeper, indentation could outgrow the content.
const INDENTED_DEPTH: usize = 8;
/// JSON text is not pretty-printed beyond this size.
const MAX_PRETTY_BYTES: usize = 64 * 1024;

pub fn tree(value: &Value) -> SafeHtml {
    let mut writer = TreeWriter {
        html: HtmlBuilder::new(),
        left: MAX_NODES,
    };
    writer.html.markup(r#"<div class="json">"#);
    writer.node(None, value, 0);
    writer.html.markup("</div>");
    writer.html.finish()
}

struct TreeWriter {
    html: HtmlBuilder,
    /// Entries that may still be rendered.
    left: usize,
}

impl TreeWriter {
    fn node(&mut self, key: Option<&str>, value: &Value, depth: usize) {
        match value {
            Value::Object(members) if !members.is_empty() => {
                if self.may_open(members.len(), depth) {
                    self.open(
                        key,
                        members.len(),
                        depth,
                        if members.len() == 1 { " field" } else { " fields" },
                    );
                    members
                        .iter()
                        .for_each(|(name, member)| self.entry(Some(name), member, depth));
                    self.html.markup("</ul></details>");
                } else {
                    self.raw(key, value);
                }
            }
            Value::Array(entries) if !entries.is_empty() => {
                if self.may_open(entries.len(), depth) {
                    self.open(
                        key,
                        entries.len(),
                        depth,
                        if entries.len() == 1 { " entry" } else { " entries" },
                    );
                    entries.iter().for_each(|entry| self.entry(None, entry, depth));
                    self.html.markup("</ul></details>");
                } else {
                    self.raw(key, value);
                }
            }
            Value::Object(_) => self.leaf(key, r#"<span class="empty">{}</span>"#),
            Value::Array(_) => self.leaf(key, r#"<span class="empty">[]</span>"#),
            Value::Null => self.leaf(key, r#"<span class="null">null</span>"#),
            Value::Bool(true) => self.leaf(key, r#"<span class="bool">true</span>"#),
            Value::Bool(false) => self.leaf(key, r#"<span class="bool">false</span>"#),
            Value::Number(number) => {
                self.leaf(key, r#"<span class="number">"#);
                self.html.line(&number.to_string());
                self.html.markup("</span>");
            }
            Value::String(text) => self.string(key, text),
        }
    }

    /// Takes the entries from the budget, so that the size of the tree stays bounded.
    fn may_open(&mut self, entries: usize, depth: usize) -> bool {
        let fits = depth < MAX_DEPTH && entries <= self.left;
        if fits {
            self.left -= entries;
        }
        fits
    }

    fn open(&mut self, key: Option<&str>, entries: usize, depth: usize, unit: &'static str) {
        let is_open = depth < OPEN_DEPTH || entries <= FEW_ENTRIES;
        self.html.markup(if is_open {
            r#"<details class="tree" open><summary>"#
        } else {
            r#"<details class="tree"><summary>"#
        });
        self.key(key);
        self.html.markup(r#"<span class="size">"#);
        self.html.line(&entries.to_string());
        self.html.markup(unit);
        self.html.markup("</span></summary><ul>");
    }

    fn entry(&mut self, key: Option<&str>, value: &Value, depth: usize) {
        self.html.markup("<li>");
        self.node(key, value, depth + 1);
        self.html.markup("</li>");
    }

    fn key(&mut self, key: Option<&str>) {
        if let Some(key) = key {
            self.html.markup(r#"<span class="key">"#);
            self.html.line(key);
            self.html.markup("</span>: ");
        }
    }

    fn leaf(&mut self, key: Option<&str>, markup: &'static str) {
        self.key(key);
        self.html.markup(markup);
    }

    /// A text of several lines gets its own block, or its lines could pass for entries of the tree.
    fn string(&mut self, key: Option<&str>, text: &str) {
        self.key(key);
        if text.contains('\n') {
            self.html.markup(r#"<pre class="string">"#);
            self.html.lines(text);
            self.html.markup("</pre>");
        } else {
            self.html.markup(r#"<span class="string">"#);
            self.html.line(&format!("\"{text}\""));
            self.html.markup("</span>");
        }
    }

    fn raw(&mut self, key: Option<&str>, value: &Value) {
        self.key(key);
        self.html.markup(r#"<pre class="raw">"#);
        self.html.lines(&json(value));
        self.html.markup("</pre>");
    }
}

/// JSON as text: pretty-printed if it is small, else on one line.
pub fn json(value: &Value) -> String {
    pretty_json(value).unwrap_or_else(|| value.to_string())
}

fn pretty_json(value: &Value) -> Option<String> {
    if !is_shallow(value, INDENTED_DEPTH) {
        return None;
    }
    let mut buffer = vec![0; MAX_PRETTY_BYTES];
    let mut left = buffer.as_mut_slice();
    serde_json::to_writer_pretty(&mut left, value).ok()?;
    let used = MAX_PRETTY_BYTES - left.len();
    buffer.truncate(used);
    String::from_utf8(buffer).ok()
}

fn is_shallow(value: &Value, depth: usize) -> bool {
    match value {
        Value::Object(members) => depth > 0 && members.values().all(|member| is_shallow(member, depth - 1)),
        Value::Array(entries) => depth > 0 && entries.iter().all(|entry| is_shallow(entry, depth - 1)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => true,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn every_kind_of_value_is_rendered() {
        let value = json!({"a": [1, true], "b": {}, "c": [], "d": null, "e": "x", "f": "two\nlines"});
        let expected = concat!(
            r#"<div class="json"><details class="tree" open><summary><span class="size">6 fields</span></summary><ul>"#,
            r#"<li><details class="tree" open><summary><span class="key">a</span>: "#,
            r#"<span class="size">2 entries</span></summary><ul>"#,
            r#"<li><span class="number">1</span></li><li><span class="bool">true</span></li></ul></details></li>"#,
            r#"<li><span class="key">b</span>: <span class="empty">{}</span></li>"#,
            r#"<li><span class="key">c</span>: <span class="empty">[]</span></li>"#,
            r#"<li><span class="key">d</span>: <span class="null">null</span></li>"#,
            r#"<li><span class="key">e</span>: <span class="string">"x"</span></li>"#,
            "<li><span class=\"key\">f</span>: <pre class=\"string\">two\nlines</pre></li>",
            "</ul></details></div>",
        );
        assert_eq!(tree(&value).as_str(), expected);
    }

    #[test]
    fn keys_and_texts_are_never_markup_and_hide_no_characters() {
        let evil = "<img src=x onerror=alert(1)>\u{202e}\u{200b}\"'&";
        let html = tree(&json!({evil: [evil, {"x": evil}]})).to_string();
        assert!(
            !html.contains("<img") && !html.contains(['\u{202e}', '\u{200b}']),
            "{html}"
        );
        assert_eq!(
            html.matches("&lt;img src=x onerror=alert(1)&gt;\\u{202e}\\u{200b}\"'&amp;")
                .count(),
            3
        );
    }

    #[test]
    fn large_and_deep_parts_start_closed() {
        let few: Vec<usize> = (0..FEW_ENTRIES).collect();
        let more: Vec<usize> = (0..=FEW_ENTRIES).collect();
        let html = tree(&json!({"a": {"few": few, "more": more}})).to_string();
        assert_eq!(html.matches(r#"<details class="tree" open>"#).count(), 3);
        assert_eq!(
            html.matches(r#"<details class="tree"><summary><span class="key">more"#)
                .count(),
            1
        );
    }

    #[test]
    fn value_too_large_for_a_tree_is_shown_as_complete_text() {
        let wide = json!({"note": "small", "wide": (0..MAX_NODES).collect::<Vec<_>>()});
        let html = tree(&wide).to_string();
        assert!(
            html.contains(r#"<span class="string">"small"</span>"#),
            "the rest stays a tree"
        );
        assert!(
            html.contains(r#"<span class="key">wide</span>: <pre class="raw">["#) && html.contains("1999\n]</pre>")
        );

        let mut deep = json!("bottom\u{202e}");
        (0..100).for_each(|_| deep = json!([deep]));
        let html = tree(&deep).to_string();
        assert_eq!(html.matches("<details").count(), MAX_DEPTH);
        assert!(html.contains("bottom\\u{202e}") && html.len() < 10_000, "{html}");
    }

    #[test]
    fn only_small_json_is_pretty_printed() {
        assert_eq!(json(&json!({"a": [1]})), "{\n  \"a\": [\n    1\n  ]\n}");
        let mut indented = json!(vec![0; 10_000]);
        (1..INDENTED_DEPTH).for_each(|_| indented = json!([indented]));
        assert_eq!(json(&indented), indented.to_string());
    }
}
