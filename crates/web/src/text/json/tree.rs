//! Writes the tree.

use serde_json::{Map, Value};

use super::json;
use super::size::{OPEN_LINES, lines, shown_entries};
use super::table::Table;
use crate::language::counted;
use crate::text::safe_html::{HtmlBuilder, SafeHtml};

pub const MAX_NODES: usize = 2000;
pub const MAX_DEPTH: usize = 20;

pub fn tree(value: &Value) -> SafeHtml {
    let mut writer = TreeWriter {
        html: HtmlBuilder::new(),
        left: MAX_NODES,
    };
    writer.html.markup(r#"<div class="json">"#);
    writer.node(None, value, 0, true);
    writer.html.markup("</div>");
    writer.html.finish()
}

type Entry<'v> = (Option<&'v str>, &'v Value);

struct TreeWriter {
    html: HtmlBuilder,
    /// Entries that may still be rendered.
    left: usize,
}

impl TreeWriter {
    fn node(&mut self, key: Option<&str>, value: &Value, depth: usize, is_open: bool) {
        match value {
            Value::Object(members) if !members.is_empty() => {
                if !self.may_open(members.len(), depth) {
                    return self.raw(key, value);
                }
                let fields: Vec<Entry<'_>> = members
                    .iter()
                    .map(|(name, value)| (Some(name.as_str()), value))
                    .collect();
                self.open(key, &counted(fields.len(), "{count} field", "{count} fields"), is_open);
                self.list(&fields, depth);
                self.html.markup("</details>");
            }
            Value::Array(values) if !values.is_empty() => {
                let table = Table::of(values);
                let entries = table.as_ref().map_or(values.len(), Table::fields);
                if !self.may_open(entries, depth) {
                    return self.raw(key, value);
                }
                self.open(key, &counted(values.len(), "{count} entry", "{count} entries"), is_open);
                match table {
                    Some(table) => self.table(&table, depth),
                    None => self.list(&values.iter().map(|value| (None, value)).collect::<Vec<_>>(), depth),
                }
                self.html.markup("</details>");
            }
            other => {
                self.key(key);
                self.leaf(other);
            }
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

    fn open(&mut self, key: Option<&str>, size: &str, is_open: bool) {
        self.html.markup(if is_open {
            r#"<details class="tree" open><summary>"#
        } else {
            r#"<details class="tree"><summary>"#
        });
        self.key(key);
        self.html.markup(r#"<span class="size">"#);
        self.html.line(size);
        self.html.markup("</span></summary>");
    }

    /// Entries start open as long as all open lines fit.
    fn list(&mut self, entries: &[Entry<'_>], depth: usize) {
        let (first, rest) = entries.split_at(shown_entries(entries.len()));
        self.entries(first, depth);
        if !rest.is_empty() {
            self.open(None, &counted(rest.len(), "{count} more", "{count} more"), false);
            self.entries(rest, depth);
            self.html.markup("</details>");
        }
    }

    fn entries(&mut self, entries: &[Entry<'_>], depth: usize) {
        let mut room = OPEN_LINES.saturating_sub(entries.len());
        self.html.markup("<ul>");
        for (key, value) in entries {
            let inside = lines(value, room + 2) - 1;
            let is_open = inside <= room;
            room -= if is_open { inside } else { 0 };
            self.html.markup("<li>");
            self.node(*key, value, depth + 1, is_open);
            self.html.markup("</li>");
        }
        self.html.markup("</ul>");
    }

    fn table(&mut self, table: &Table<'_>, depth: usize) {
        let (first, rest) = table.rows.split_at(shown_entries(table.rows.len()));
        self.rows(table, first, depth);
        if !rest.is_empty() {
            self.open(
                None,
                &counted(rest.len(), "{count} more row", "{count} more rows"),
                false,
            );
            self.rows(table, rest, depth);
            self.html.markup("</details>");
        }
    }

    fn rows(&mut self, table: &Table<'_>, rows: &[&Map<String, Value>], depth: usize) {
        self.html.markup(r#"<div class="table"><table><thead><tr>"#);
        for column in table.shown_columns() {
            self.html.markup(r#"<th scope="col">"#);
            self.html.line(column);
            self.html.markup("</th>");
        }
        if table.has_more_columns() {
            self.html.markup(r#"<th scope="col">more</th>"#);
        }
        self.html.markup("</tr></thead><tbody>");
        for row in rows {
            self.html.markup("<tr>");
            for column in table.shown_columns() {
                self.html.markup("<td>");
                row.get(*column).into_iter().for_each(|value| self.cell(value, depth));
                self.html.markup("</td>");
            }
            if table.has_more_columns() {
                self.other_cells(&table.other_fields(row), depth);
            }
            self.html.markup("</tr>");
        }
        self.html.markup("</tbody></table></div>");
    }

    fn other_cells(&mut self, fields: &[Entry<'_>], depth: usize) {
        self.html.markup("<td>");
        if !fields.is_empty() {
            self.open(None, &counted(fields.len(), "{count} field", "{count} fields"), false);
            self.entries(fields, depth + 1);
            self.html.markup("</details>");
        }
        self.html.markup("</td>");
    }

    /// A text in a cell has quotes only where it could be taken for something else.
    fn cell(&mut self, value: &Value, depth: usize) {
        match value {
            Value::String(text) if is_plain(text) => {
                self.html.markup(r#"<span class="string">"#);
                self.html.line(text);
                self.html.markup("</span>");
            }
            _ => self.node(None, value, depth + 1, false),
        }
    }

    fn key(&mut self, key: Option<&str>) {
        if let Some(key) = key {
            self.html.markup(r#"<span class="key">"#);
            self.html.line(key);
            self.html.markup("</span>: ");
        }
    }

    fn leaf(&mut self, value: &Value) {
        match value {
            Value::Object(_) => self.html.markup(r#"<span class="empty">{}</span>"#),
            Value::Array(_) => self.html.markup(r#"<span class="empty">[]</span>"#),
            Value::Null => self.html.markup(r#"<span class="null">null</span>"#),
            Value::Bool(true) => self.html.markup(r#"<span class="bool">true</span>"#),
            Value::Bool(false) => self.html.markup(r#"<span class="bool">false</span>"#),
            Value::Number(number) => {
                self.html.markup(r#"<span class="number">"#);
                self.html.line(&number.to_string());
                self.html.markup("</span>");
            }
            Value::String(text) => self.string(text),
        }
    }

    /// A text of several lines gets its own block, or its lines could pass for entries of the tree.
    fn string(&mut self, text: &str) {
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

fn is_plain(text: &str) -> bool {
    let is_of_one_line = !text.is_empty() && text.trim() == text && !text.contains('\n');
    is_of_one_line && serde_json::from_str::<Value>(text).is_err()
}
