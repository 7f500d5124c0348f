//! Unified diffs as HTML: a header and sums for each file, line numbers, added and deleted lines and the words that
//! differ in them.

mod file;
mod reader;
mod words;
mod writer;

use serde_json::Value;

use self::file::DiffFile;
use self::reader::{FileNames, Hunk};
use super::safe_html::SafeHtml;

/// Lines shown with marks; the rest follows unmarked in a closed `<details>`.
const MAX_LINES: usize = 2000;

/// True if the part's `metadata` declares a diff as `format` or `mime_type`, or if the text contains a diff outside of a
/// fenced block.
pub fn looks_like_diff(text: &str, metadata: Option<&Value>) -> bool {
    let declared = |key: &str| {
        metadata
            .and_then(|metadata| metadata[key].as_str())
            .is_some_and(is_diff_name)
    };
    declared("format") || declared("mime_type") || has_diff(text)
}

pub(super) fn is_diff_name(name: &str) -> bool {
    let name = name.trim().to_ascii_lowercase();
    matches!(
        name.as_str(),
        "diff" | "patch" | "udiff" | "text/x-diff" | "text/x-patch" | "text/diff"
    )
}

/// Two file names or a line of git, then a hunk, on consecutive lines.
fn has_diff(text: &str) -> bool {
    let is_fence = |line: &&str| line.trim_start().starts_with("```") || line.trim_start().starts_with("~~~");
    let lines: Vec<&str> = text
        .lines()
        .take(MAX_LINES)
        .take_while(|line| !is_fence(line))
        .collect();
    lines
        .windows(3)
        .any(|three| FileNames::read(three[0], three[1]).is_some() && Hunk::read(three[2]).is_some())
        || lines
            .windows(2)
            .any(|two| FileNames::read_git(two[0]).is_some() && Hunk::read(two[1]).is_some())
}

pub fn diff(text: &str) -> SafeHtml {
    let mut lines = text.lines();
    let marked: Vec<&str> = lines.by_ref().take(MAX_LINES).collect();
    let files: Vec<DiffFile<'_>> = reader::read(&marked);
    writer::write(&files, &lines.collect::<Vec<_>>())
}

#[cfg(test)]
mod tests;
