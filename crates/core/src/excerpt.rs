//! Excerpts of long texts.

/// Lists and pages show this much of a long text; the full text is stored separately.
pub const MAX_SHOWN_BYTES: usize = 256 * 1024;
const MAX_TITLE_CHARS: usize = 120;

/// The first line that is not blank, without heading marks.
pub fn title(text: &str) -> Option<String> {
    let line = text.lines().map(str::trim).find(|line| !line.is_empty())?;
    let line = line.trim_start_matches('#').trim_start();
    if line.chars().count() <= MAX_TITLE_CHARS {
        return Some(line.to_owned()).filter(|line| !line.is_empty());
    }
    Some(line.chars().take(MAX_TITLE_CHARS - 1).chain(['…']).collect())
}

/// The text, or its start with a note about where the rest is.
pub fn shown(text: &str, rest_is: &str) -> String {
    if text.len() <= MAX_SHOWN_BYTES {
        return text.to_owned();
    }
    let end = text.floor_char_boundary(MAX_SHOWN_BYTES);
    format!("{}\n\n… ({} more bytes: {rest_is})", &text[..end], text.len() - end)
}
