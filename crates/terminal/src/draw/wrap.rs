//! Fits text into a width. Wide and combined characters count with their width on screen.

use ratatui::style::Style;
use ratatui::text::Span;

pub fn width(text: &str) -> usize {
    Span::raw(text).width()
}

/// One line, shortened to `max_width` columns.
pub fn cut(text: &str, max_width: usize) -> String {
    if width(text) <= max_width {
        return text.to_owned();
    }
    let mut out = String::new();
    let mut used = 0;
    let span = Span::raw(text);
    for letter in graphemes(&span) {
        used += width(letter);
        if used >= max_width {
            break;
        }
        out.push_str(letter);
    }
    if max_width > 0 {
        out.push('…');
    }
    out
}

/// Breaks at spaces, and inside a word only if it is longer than a line.
pub fn wrap(text: &str, max_width: usize) -> Vec<String> {
    let max_width = max_width.max(1);
    // No grapheme is wider than its byte length.
    if text.len() <= max_width {
        return vec![text.trim_end().to_owned()];
    }
    let mut rows = Vec::new();
    let mut row = String::new();
    let mut used = 0;
    // The last possible break position of the row.
    let mut edge: Option<usize> = None;
    let span = Span::raw(text);
    for letter in graphemes(&span) {
        let wide = width(letter);
        if used + wide > max_width && !row.is_empty() {
            let rest = edge
                .take()
                .filter(|_| letter != " ")
                .map(|edge| row.split_off(edge))
                .unwrap_or_default();
            rows.push(std::mem::replace(&mut row, rest));
            used = width(&row);
            if letter == " " {
                continue;
            }
        }
        row.push_str(letter);
        used += wide;
        if letter == " " {
            edge = Some(row.len());
        }
    }
    rows.push(row);
    rows.iter().map(|row| row.trim_end().to_owned()).collect()
}

/// Typed text, broken exactly at the width, with the row and column of the caret.
pub fn lay(before: &str, after: &str, max_width: usize) -> (Vec<String>, (usize, usize)) {
    let max_width = max_width.max(1);
    let mut rows = vec![String::new()];
    let mut used = 0;
    let mut caret = (0, 0);
    for (index, text) in [before, after].into_iter().enumerate() {
        for line in text.split_inclusive('\n') {
            let span = Span::raw(line.trim_end_matches('\n'));
            for letter in graphemes(&span) {
                let wide = width(letter);
                if used + wide > max_width {
                    rows.push(String::new());
                    used = 0;
                }
                used += wide;
                if let Some(row) = rows.last_mut() {
                    row.push_str(letter);
                }
            }
            if line.ends_with('\n') {
                rows.push(String::new());
                used = 0;
            }
        }
        if index == 0 {
            caret = (rows.len() - 1, used.min(max_width - 1));
        }
    }
    (rows, caret)
}

/// The graphemes of the text.
fn graphemes<'a>(span: &'a Span<'a>) -> impl Iterator<Item = &'a str> {
    span.styled_graphemes(Style::new()).map(|letter| letter.symbol)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_broken_at_spaces() {
        assert_eq!(wrap("one two three", 8), ["one two", "three"]);
        assert_eq!(wrap("one two", 7), ["one two"]);
        assert_eq!(wrap("one  two", 4), ["one", "two"]);
        assert_eq!(wrap("    indented text", 12), ["    indented", "text"]);
        assert_eq!(wrap("", 5), [""]);
    }

    #[test]
    fn a_long_word_is_broken_where_it_must() {
        assert_eq!(wrap("abcdefgh", 3), ["abc", "def", "gh"]);
        assert_eq!(wrap("日本語", 4), ["日本", "語"]);
        assert_eq!(wrap("日", 1), ["日"]);
    }

    #[test]
    fn a_cut_line_ends_with_an_ellipsis() {
        assert_eq!(cut("short", 5), "short");
        assert_eq!(cut("longer", 5), "long…");
        assert_eq!(cut("日本語", 5), "日本…");
        assert_eq!(cut("x", 0), "");
    }

    #[test]
    fn the_caret_is_where_the_next_letter_goes() {
        assert_eq!(lay("abc", "de", 4), (vec!["abcd".to_owned(), "e".to_owned()], (0, 3)));
        assert_eq!(lay("a\n", "b", 4), (vec!["a".to_owned(), "b".to_owned()], (1, 0)));
        assert_eq!(lay("", "", 4), (vec![String::new()], (0, 0)));
    }
}
