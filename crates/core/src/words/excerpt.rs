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

const MAX_LINE_CHARS: usize = 160;

/// The start of a Markdown text as one plain line, for a row of a list: without the marks of headings, lists, quotes,
/// emphasis and code, and with the text of a link or an image only.
pub fn line(markdown: &str) -> String {
    let mut line = String::new();
    let mut count = 0;
    let start = &markdown[..markdown.floor_char_boundary(MAX_LINE_CHARS * 8)];
    for markdown_line in start.lines() {
        let text = without_marks(markdown_line);
        let is_item = markdown_line.trim_start().starts_with(['-', '*', '+']);
        let separator = match (count, is_item) {
            _ if text.is_empty() => continue,
            (0, _) => "",
            (_, true) => " · ",
            (_, false) => " ",
        };
        for character in separator.chars().chain(text.chars()) {
            if count == MAX_LINE_CHARS {
                line.push('…');
                return line;
            }
            line.push(character);
            count += 1;
        }
    }
    line
}

/// One line of Markdown as plain text. A fence or a rule is empty.
fn without_marks(line: &str) -> String {
    let line = line
        .trim()
        .trim_start_matches(['#', '>', '|', ' '])
        .trim_start_matches("- ")
        .trim_start_matches("* ");
    if line.starts_with("```") || line.chars().all(|mark| "-=*_|: ".contains(mark)) {
        return String::new();
    }
    let mut plain = String::new();
    let mut rest = line;
    while let Some((before, after)) = rest.split_once('[') {
        plain.push_str(before);
        let mark = plain.len() - usize::from(before.ends_with('!'));
        match after
            .split_once("](")
            .and_then(|(text, link)| Some((text, link.split_once(')')?.1)))
        {
            Some((text, behind)) if !text.contains('[') => {
                plain.truncate(mark);
                plain.push_str(text);
                rest = behind;
            }
            Some(_) | None => {
                plain.push('[');
                rest = after;
            }
        }
    }
    plain.push_str(rest);
    plain.replace("**", "").replace("__", "").replace('`', "")
}

/// The text without its first line, if that line is a paragraph or heading of its own and says the same as `title`:
/// a page that shows the title does not say it twice.
pub fn without_title<'t>(text: &'t str, title: &str) -> &'t str {
    let start = text.trim_start();
    let (line, rest) = start.split_once('\n').unwrap_or((start, ""));
    let is_heading = line.starts_with('#');
    let ends_paragraph = rest.lines().next().is_none_or(|next| next.trim().is_empty());
    let words = line.trim().trim_start_matches('#').trim();
    if words == title.trim() && (is_heading || ends_paragraph) {
        rest.trim_start_matches(['\r', '\n'])
    } else {
        text
    }
}

/// The text, or its start with a note about where the rest is.
pub fn shown(text: &str, rest_is: &str) -> String {
    if text.len() <= MAX_SHOWN_BYTES {
        return text.to_owned();
    }
    let end = text.floor_char_boundary(MAX_SHOWN_BYTES);
    format!("{}\n\n… ({} more bytes: {rest_is})", &text[..end], text.len() - end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_has_the_start_of_the_text_without_its_marks() {
        assert_eq!(
            line(
                "# Release\n\nAll checks are **green**. See [the run](https://ci.example/1) and `make x`.\n\n- one\n- two\n"
            ),
            "Release All checks are green. See the run and make x. · one · two"
        );
        assert_eq!(line("```sh\nls\n```\n---\n> quoted"), "ls quoted");
        assert_eq!(line("a[0] [b](c"), "a[0] [b](c");
        assert_eq!(line("Both pass! ![The button](b.png)"), "Both pass! The button");
        assert_eq!(line(" \n\t\n"), "");
    }

    #[test]
    fn an_excerpt_is_short_for_any_text() {
        for long in [
            "x".repeat(1 << 20),
            "é ".repeat(1 << 20),
            "[".repeat(1 << 20),
            "\n".repeat(1 << 20),
        ] {
            assert!(line(&long).chars().count() <= MAX_LINE_CHARS + 1);
        }
        assert!(line(&"é".repeat(500)).ends_with("é…"));
    }

    #[test]
    fn a_title_is_cut_only_where_it_stands_alone() {
        for (text, rest) in [
            ("Ship it?", ""),
            ("# Ship it?\nThe build is green.", "The build is green."),
            ("\nShip it?\n\nThe build is green.", "The build is green."),
        ] {
            assert_eq!(without_title(text, "Ship it?"), rest);
        }
        for whole in ["Ship it?\nOr not?", "Ship it? Now?", "Well.\n\nShip it?"] {
            assert_eq!(without_title(whole, "Ship it?"), whole);
        }
    }
}
