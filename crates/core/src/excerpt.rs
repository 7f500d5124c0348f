//! Long texts in short places.

/// The start of a long text stands in lists and on pages; the whole of it is kept beside.
pub const MAX_SHOWN_BYTES: usize = 256 * 1024;
const MAX_TITLE_CHARS: usize = 120;

/// The first line that says something, without the marks of a heading.
pub fn title(text: &str) -> Option<String> {
    let line = text.lines().map(str::trim).find(|line| !line.is_empty())?;
    let line = line.trim_start_matches('#').trim_start();
    if line.chars().count() <= MAX_TITLE_CHARS {
        return Some(line.to_owned()).filter(|line| !line.is_empty());
    }
    Some(line.chars().take(MAX_TITLE_CHARS - 1).chain(['…']).collect())
}

/// The text itself, or its start and where the rest of it is.
pub fn shown(text: &str, rest_is: &str) -> String {
    if text.len() <= MAX_SHOWN_BYTES {
        return text.to_owned();
    }
    let end = text.floor_char_boundary(MAX_SHOWN_BYTES);
    format!("{}\n\n… ({} more bytes: {rest_is})", &text[..end], text.len() - end)
}
