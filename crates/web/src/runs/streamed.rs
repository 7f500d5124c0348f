//! Markdown that an agent is writing, rendered while it comes. A complete block is rendered once; only the last one, which
//! may still grow, is rendered again. Its size limit bounds the work of one update.

use crate::text::markdown;

/// A longer block is cut at the end of a line, and its start counts as complete.
const MAX_BLOCK_BYTES: usize = 8 * 1024;

#[derive(Debug, Default)]
pub struct StreamedMarkdown {
    /// The text of the last block.
    growing: String,
}

/// The HTML that an update adds to the page.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct StreamedHtml {
    /// The blocks that are complete now.
    pub complete: String,
    /// The last block; it replaces the last block of the update before.
    pub growing: String,
}

impl StreamedMarkdown {
    pub fn push(&mut self, text: &str) -> StreamedHtml {
        self.growing.push_str(text);
        let mut complete = String::new();
        while let Some(cut) = next_cut(&self.growing) {
            let rest = cut.reopened + &self.growing[cut.end..];
            self.growing.truncate(cut.end);
            complete.push_str(markdown(&self.growing).as_str());
            self.growing = rest;
        }
        StreamedHtml {
            complete,
            growing: match self.growing.trim().is_empty() {
                true => String::new(),
                false => markdown(&self.growing).as_str().to_owned(),
            },
        }
    }
}

/// The end of the complete blocks.
struct Cut {
    end: usize,
    /// The opening line of the code block that the cut divides.
    reopened: String,
}

/// A block is complete when a line that is not indented follows a blank one, outside of a code block.
fn next_cut(text: &str) -> Option<Cut> {
    let mut open_fence: Option<&str> = None;
    let mut is_after_blank = false;
    let mut end_of_blocks = 0;
    let mut end_of_lines = (0, None);
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        if is_after_blank && open_fence.is_none() && !line.starts_with([' ', '\t', '\n', '\r']) {
            end_of_blocks = at;
        }
        if at > 0 && at <= MAX_BLOCK_BYTES {
            end_of_lines = (at, open_fence);
        }
        open_fence = fence_after(line, open_fence);
        is_after_blank = line.trim().is_empty();
        at += line.len();
    }
    if end_of_blocks > 0 {
        return Some(Cut {
            end: end_of_blocks,
            reopened: String::new(),
        });
    }
    let is_too_long = text.len() > MAX_BLOCK_BYTES;
    is_too_long.then(|| match end_of_lines {
        // A cut halves the text at least: a long opening line would be rendered again for each line after it.
        (end, fence) if end > 2 * fence.map_or(0, str::len) => Cut {
            end,
            reopened: fence.unwrap_or_default().to_owned(),
        },
        _ => Cut {
            end: text.floor_char_boundary(MAX_BLOCK_BYTES),
            reopened: String::new(),
        },
    })
}

/// The line that opened the code block which is open after this line.
fn fence_after<'t>(line: &'t str, open: Option<&'t str>) -> Option<&'t str> {
    let marks = |line: &str| {
        let line = line.trim_start();
        let mark = line.chars().next().filter(|mark| matches!(mark, '`' | '~'))?;
        let count = line.chars().take_while(|c| *c == mark).count();
        (count >= 3).then_some((mark, count))
    };
    match (open, marks(line)) {
        (None, Some(_)) => Some(line),
        (Some(opening), Some((mark, count))) => {
            let is_end = line.trim().chars().all(|c| c == mark)
                && marks(opening).is_some_and(|(opened, most)| opened == mark && count >= most);
            (!is_end).then_some(opening)
        }
        (open, None) => open,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pushed(written: &mut StreamedMarkdown, text: &str) -> (String, String) {
        let html = written.push(text);
        (html.complete.trim().to_owned(), html.growing.trim().to_owned())
    }

    #[track_caller]
    fn adds(written: &mut StreamedMarkdown, text: &str, complete: &str, growing: &str) {
        assert_eq!(
            pushed(written, text),
            (complete.to_owned(), growing.to_owned()),
            "{text:?}"
        );
    }

    #[test]
    fn a_block_is_complete_when_the_next_one_begins() {
        let mut written = StreamedMarkdown::default();
        adds(&mut written, "A **bo", "", "<p>A **bo</p>");
        adds(&mut written, "ld** word\n\n", "", "<p>A <strong>bold</strong> word</p>");
        adds(&mut written, "N", "<p>A <strong>bold</strong> word</p>", "<p>N</p>");
        adds(&mut written, "ext", "", "<p>Next</p>");
        adds(
            &mut written,
            " <b>x</b> \u{202e}",
            "",
            r"<p>Next &lt;b&gt;x&lt;/b&gt; \u{202e}</p>",
        );
    }

    #[test]
    fn code_blocks_and_indented_lines_stay_whole() {
        let mut written = StreamedMarkdown::default();
        let (complete, growing) = pushed(&mut written, "```sh\none\n\ntwo\n");
        assert!(complete.is_empty() && growing.contains("one\n\ntwo"), "{growing}");
        let (complete, _) = pushed(&mut written, "```\n\nafter");
        assert!(complete.contains("two") && !complete.contains("after"), "{complete}");
        let (complete, growing) = pushed(&mut written, "\n\n- item\n\n  its text");
        assert!(
            complete.contains("after") && growing.contains("its text"),
            "{complete} {growing}"
        );
    }

    #[test]
    fn each_update_renders_a_bounded_text() {
        let mut written = StreamedMarkdown::default();
        let mut complete = String::new();
        for _ in 0..400 {
            let html = written.push("x".repeat(99).as_str());
            complete.push_str(&html.complete);
            assert!(written.growing.len() <= MAX_BLOCK_BYTES);
        }
        complete.push_str(&written.push("").growing);
        assert_eq!(complete.matches('x').count(), 400 * 99, "nothing is left out or twice");
    }

    #[test]
    fn a_long_opening_line_is_not_repeated_for_each_line_after_it() {
        let opening = format!("```{}\n", "x".repeat(MAX_BLOCK_BYTES - 100));
        let text = format!("{opening}{}", "y\n".repeat(8_000));
        let html = StreamedMarkdown::default().push(&text);
        let bytes = html.complete.len() + html.growing.len();
        assert!(bytes < 4 * text.len(), "{bytes}");
    }

    #[test]
    fn a_long_code_block_goes_on_as_code() {
        let mut written = StreamedMarkdown::default();
        let lines = format!("```\n{}", "# a line\n".repeat(2_000));
        let html = written.push(&lines);
        let all = format!("{}{}", html.complete, html.growing);
        assert!(
            all.matches("<pre").count() > 2 && !all.contains("<h1"),
            "{}",
            &all[..200]
        );
        assert_eq!(all.matches("# a line").count(), 2_000);
    }
}
