//! JSON as a collapsible tree, arrays of alike objects as tables. Values too large or too deep for the tree are shown as
//! text, without omissions.

mod size;
mod table;
mod tree;

use serde_json::Value;

pub use tree::tree;

/// JSON text is pretty-printed down to this depth; deeper, indentation could outgrow the content.
const INDENTED_DEPTH: usize = 8;
/// JSON text is not pretty-printed beyond this size.
const MAX_PRETTY_BYTES: usize = 64 * 1024;

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
mod tests;
