//! Unified diffs as HTML, with added and deleted lines marked.

use serde_json::Value;

use super::safe_html::{HtmlBuilder, SafeHtml};

/// Lines shown at once; the rest follows unmarked in a closed `<details>`.
const MAX_LINES: usize = 2000;

/// True if the part's `metadata` declares a diff as `format` or `mime_type`, or if the text contains a diff hunk.
pub fn looks_like_diff(text: &str, metadata: Option<&Value>) -> bool {
    let declared = |key: &str| {
        metadata
            .and_then(|metadata| metadata[key].as_str())
            .is_some_and(is_diff_name)
    };
    declared("format") || declared("mime_type") || has_hunk(text)
}

pub(super) fn is_diff_name(name: &str) -> bool {
    let name = name.trim().to_ascii_lowercase();
    matches!(
        name.as_str(),
        "diff" | "patch" | "udiff" | "text/x-diff" | "text/x-patch" | "text/diff"
    )
}

/// Two file names followed by a hunk header, on consecutive lines.
fn has_hunk(text: &str) -> bool {
    let lines: Vec<&str> = text.lines().take(MAX_LINES).collect();
    lines
        .windows(3)
        .any(|three| is_names(three[0], three[1]) && Hunk::read(three[2]).is_some())
}

fn is_names(old: &str, new: &str) -> bool {
    old.starts_with("--- ") && new.starts_with("+++ ")
}

pub fn diff(text: &str) -> SafeHtml {
    let mut html = HtmlBuilder::new();
    html.markup(r#"<pre class="diff">"#);
    let mut lines = text.lines();
    let mut reader = DiffReader::default();
    for _ in 0..MAX_LINES {
        let Some(line) = lines.next() else { break };
        let next = lines.clone().next().unwrap_or_default();
        write_line(&mut html, reader.mark(line, next), line);
    }
    html.markup("</pre>");
    write_rest(&mut html, lines);
    html.finish()
}

fn write_rest<'a>(html: &mut HtmlBuilder, lines: impl Iterator<Item = &'a str> + Clone) {
    let count = lines.clone().count();
    if count > 0 {
        html.markup("<details><summary>… ");
        html.line(&count.to_string());
        html.markup(if count == 1 { " more line" } else { " more lines" });
        html.markup(r#"</summary><pre class="diff">"#);
        lines.for_each(|line| html.lines(&format!("{line}\n")));
        html.markup("</pre></details>");
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum DiffMark {
    Added,
    Deleted,
    Hunk,
    Meta,
    Same,
}

fn write_line(html: &mut HtmlBuilder, mark: DiffMark, line: &str) {
    let (open, close) = match mark {
        DiffMark::Added => (r#"<span class="add">"#, "</span>\n"),
        DiffMark::Deleted => (r#"<span class="del">"#, "</span>\n"),
        DiffMark::Hunk => (r#"<span class="hunk">"#, "</span>\n"),
        DiffMark::Meta => (r#"<span class="meta">"#, "</span>\n"),
        DiffMark::Same => ("", "\n"),
    };
    html.markup(open);
    html.lines(line);
    html.markup(close);
}

/// A hunk, with the number of old and new lines still to come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Hunk {
    old: usize,
    new: usize,
}

impl Hunk {
    /// Parses `@@ -12,3 +12,4 @@ and anything`; a count of one may be omitted.
    fn read(line: &str) -> Option<Self> {
        let (ranges, _) = line.strip_prefix("@@ -")?.split_once(" @@")?;
        let (old, new) = ranges.split_once(" +")?;
        Some(Self {
            old: count(old)?,
            new: count(new)?,
        })
    }
}

fn count(range: &str) -> Option<usize> {
    match range.split_once(',') {
        Some((start, count)) => start.parse::<usize>().ok().and_then(|_| count.parse().ok()),
        None => range.parse::<usize>().ok().map(|_| 1),
    }
}

/// Tracks the position in a hunk, because a deleted line `-- x` inside a hunk looks like a file name.
#[derive(Default)]
struct DiffReader {
    hunk: Option<Hunk>,
    after_names: bool,
}

impl DiffReader {
    fn mark(&mut self, line: &str, next: &str) -> DiffMark {
        if let Some(hunk) = &mut self.hunk.filter(|hunk| hunk.old > 0 || hunk.new > 0) {
            let mark = hunk.take(line);
            self.hunk = Some(*hunk);
            return mark;
        }
        self.hunk = Hunk::read(line);
        let is_new_name = std::mem::replace(&mut self.after_names, is_names(line, next));
        match line.as_bytes().first() {
            _ if self.hunk.is_some() => DiffMark::Hunk,
            _ if is_new_name || self.after_names || is_header(line) => DiffMark::Meta,
            Some(b'+') => DiffMark::Added,
            Some(b'-') => DiffMark::Deleted,
            Some(_) | None => DiffMark::Same,
        }
    }
}

impl Hunk {
    fn take(&mut self, line: &str) -> DiffMark {
        let (old, new, mark) = match line.as_bytes().first() {
            Some(b'+') => (0, 1, DiffMark::Added),
            Some(b'-') => (1, 0, DiffMark::Deleted),
            Some(b'\\') => (0, 0, DiffMark::Meta),
            Some(_) | None => (1, 1, DiffMark::Same),
        };
        self.old = self.old.saturating_sub(old);
        self.new = self.new.saturating_sub(new);
        mark
    }
}

fn is_header(line: &str) -> bool {
    [
        "diff ",
        "index ",
        "new file mode ",
        "deleted file mode ",
        "old mode ",
        "new mode ",
        "similarity index ",
        "rename ",
    ]
    .iter()
    .any(|start| line.starts_with(start))
        || line.starts_with('\\')
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const PATCH: &str =
        "diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1,3 +1,3 @@ fn main\n same\n--- dropped\n+++ gained\n end\n";

    #[test]
    fn added_and_deleted_lines_are_marked() {
        let expected = r#"<pre class="diff"><span class="meta">diff --git a/x b/x</span>
<span class="meta">--- a/x</span>
<span class="meta">+++ b/x</span>
<span class="hunk">@@ -1,3 +1,3 @@ fn main</span>
 same
<span class="del">--- dropped</span>
<span class="add">+++ gained</span>
 end
</pre>"#;
        assert_eq!(diff(PATCH).as_str(), expected);
    }

    #[test]
    fn snippet_without_a_header_is_marked_too() {
        let html = diff("-old\n+new\n--- alone\nsame").to_string();
        let expected = "<span class=\"del\">-old</span>\n<span class=\"add\">+new</span>\n<span class=\"del\">--- alone</span>\nsame\n";
        assert_eq!(html, format!("<pre class=\"diff\">{expected}</pre>"));
    }

    #[test]
    fn lines_beyond_what_a_hunk_announced_are_still_marked() {
        let html = diff("--- a\n+++ b\n@@ -1 +1 @@\n-a\n+b\n+smuggled\n").to_string();
        assert!(html.contains(r#"<span class="add">+smuggled</span>"#), "{html}");
    }

    #[test]
    fn a_hunk_may_announce_more_lines_than_can_be_counted() {
        let most = usize::MAX;
        let html = diff(&format!("@@ -1,{most} +1,{most} @@\n-a\n+b\n")).to_string();
        assert!(html.contains(r#"<span class="del">-a</span>"#) && html.contains(r#"<span class="add">+b</span>"#));
    }

    #[test]
    fn diff_text_is_never_markup_and_hides_no_characters() {
        let html = diff("+<script>alert(1)</script>\n-\u{202e}\u{200b}&amp;\n@@ \"' @@").to_string();
        assert!(html.contains("+&lt;script&gt;alert(1)&lt;/script&gt;"), "{html}");
        assert!(html.contains("-\\u{202e}\\u{200b}&amp;amp;"), "{html}");
    }

    #[test]
    fn rest_of_a_long_diff_is_in_a_closed_details_element() {
        let html = diff(&"+a\n".repeat(MAX_LINES + 3)).to_string();
        assert_eq!(html.matches("<span").count(), MAX_LINES);
        assert!(
            html.ends_with(
                "<details><summary>… 3 more lines</summary><pre class=\"diff\">+a\n+a\n+a\n</pre></details>"
            )
        );
        assert!(!diff(&"+a\n".repeat(MAX_LINES)).as_str().contains("<details>"));
    }

    #[test]
    fn diff_is_recognized_by_metadata_or_by_its_hunks() {
        assert!(looks_like_diff(PATCH, None));
        assert!(looks_like_diff("+a", Some(&json!({"format": "diff"}))));
        assert!(looks_like_diff("+a", Some(&json!({"mime_type": "text/x-Diff"}))));
        for text in [
            "",
            "--- a\n+++ b\n",
            "- one\n- two\n+ three",
            "@@ -1 +1 @@\n-a",
            "---\n+++\n@@ -1 +1 @@",
        ] {
            assert!(!looks_like_diff(text, Some(&json!({"format": "markdown"}))), "{text}");
        }
    }
}
