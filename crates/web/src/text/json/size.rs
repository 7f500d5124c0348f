//! How many lines of a tree are shown at first.

use serde_json::Value;

use super::table::Table;

/// Lines of a tree that are open at first.
pub const OPEN_LINES: usize = 20;
/// Of more entries than `OPEN_LINES`, so many are shown and the rest is folded.
const FIRST_ENTRIES: usize = 10;

/// The number of entries that are not folded away.
pub fn shown_entries(entries: usize) -> usize {
    if entries > OPEN_LINES { FIRST_ENTRIES } else { entries }
}

/// The lines of an open value, counted up to `max`.
pub fn lines(value: &Value, max: usize) -> usize {
    let inside = |values: &mut dyn Iterator<Item = &Value>, entries: usize| {
        let shown = shown_entries(entries);
        let mut count = 1 + usize::from(shown < entries);
        for value in values.take(shown) {
            if count >= max {
                break;
            }
            count += lines(value, max - count);
        }
        count
    };
    match value {
        Value::Array(entries) if Table::of(entries).is_some() => 3 + shown_entries(entries.len()),
        Value::Array(entries) => inside(&mut entries.iter(), entries.len()),
        Value::Object(members) => inside(&mut members.values(), members.len()),
        Value::String(text) => text.lines().take(max).count().max(1),
        Value::Null | Value::Bool(_) | Value::Number(_) => 1,
    }
}
