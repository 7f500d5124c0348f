//! The words that differ between a deleted line and the added line that replaces it.

use std::ops::Range;

use super::file::{DiffLine, DiffMark};

/// Longer lines are not compared.
const MAX_LINE_BYTES: usize = 1000;
/// More lines in a row are a rewrite, where pairs of lines have nothing to do with each other.
const MAX_PAIRED_LINES: usize = 20;

/// The differing range of each line, in the order of the lines.
pub fn changed_words(lines: &[DiffLine<'_>]) -> Vec<Option<Range<usize>>> {
    let mut changed = vec![None; lines.len()];
    let mut at = 0;
    while at < lines.len() {
        let deleted = run(&lines[at..], DiffMark::Deleted);
        let added = run(&lines[at + deleted..], DiffMark::Added);
        if deleted == added && deleted <= MAX_PAIRED_LINES {
            for nth in at..at + deleted {
                if let Some((old, new)) = compare(lines[nth].text, lines[nth + deleted].text) {
                    changed[nth] = Some(old);
                    changed[nth + deleted] = Some(new);
                }
            }
        }
        at += (deleted + added).max(1);
    }
    changed
}

fn run(lines: &[DiffLine<'_>], mark: DiffMark) -> usize {
    lines.iter().take_while(|line| line.mark == mark).count()
}

/// The parts between the common start and the common end, at word boundaries. `None` if the lines are too different.
fn compare(old: &str, new: &str) -> Option<(Range<usize>, Range<usize>)> {
    if old.len().max(new.len()) > MAX_LINE_BYTES {
        return None;
    }
    let start = word_start(old, new, common(old.chars(), new.chars()));
    let end = common(old[start..].chars().rev(), new[start..].chars().rev());
    let end = word_end(old, new, end);
    let shared = old[..start].trim_start().len() + end;
    let is_alike = shared * 3 >= old.trim_start().len().max(new.trim_start().len());
    is_alike.then(|| (start..old.len() - end, start..new.len() - end))
}

fn common(old: impl Iterator<Item = char>, new: impl Iterator<Item = char>) -> usize {
    old.zip(new)
        .take_while(|(old, new)| old == new)
        .map(|(letter, _)| letter.len_utf8())
        .sum()
}

/// The length of the common start, shortened if it would end within a word.
fn word_start(old: &str, new: &str, length: usize) -> usize {
    let splits = old[length..].starts_with(is_word) || new[length..].starts_with(is_word);
    if splits {
        old[..length].trim_end_matches(is_word).len()
    } else {
        length
    }
}

/// The length of the common end, shortened if it would begin within a word.
fn word_end(old: &str, new: &str, length: usize) -> usize {
    let (old, end) = old.split_at(old.len() - length);
    let splits = old.ends_with(is_word) || new[..new.len() - length].ends_with(is_word);
    if splits {
        end.trim_start_matches(is_word).len()
    } else {
        length
    }
}

fn is_word(letter: char) -> bool {
    letter.is_alphanumeric() || letter == '_'
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words<'t>(old: &'t str, new: &'t str) -> Option<(&'t str, &'t str)> {
        compare(old, new).map(|(in_old, in_new)| (&old[in_old], &new[in_new]))
    }

    #[test]
    fn differing_words_are_found_between_what_two_lines_share() {
        assert_eq!(words("replicas = 2", "replicas = 3"), Some(("2", "3")));
        assert_eq!(
            words("a.round() / 100.0", "a.round_ties_even() / 100.0"),
            Some(("round", "round_ties_even"))
        );
        assert_eq!(words("call(a, b)", "call(a, b, c)"), Some(("", ", c")));
        assert_eq!(words("grün = 1;", "grüße = 1;"), Some(("grün", "grüße")));
        assert_eq!(words("aaa", "aaa"), Some(("", "")));
        assert_eq!(words("x = x x", "x = x x x"), Some(("", " x")));
    }

    #[test]
    fn lines_with_little_in_common_have_no_words_marked() {
        for (old, new) in [("let a = 1;", "while running {"), ("", "a"), ("{", "}"), ("éa", "aé")] {
            assert_eq!(words(old, new), None, "{old} {new}");
        }
        let long = "a".repeat(MAX_LINE_BYTES + 1);
        assert_eq!(words(&long, &long), None);
    }
}
