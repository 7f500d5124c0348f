//! Words of a text, the same for indexing, for queries and for marking: runs of letters and digits, case-folded and
//! without accents. They are split here because each database's own tokenizer would give different results.

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

use super::SearchTerm;

const MAX_WORD_CHARS: usize = 64;

fn is_accent(c: char) -> bool {
    ('\u{300}'..='\u{36f}').contains(&c)
}

/// Some scripts write vowels as combining marks, which belong to the word.
fn is_in_word(c: char) -> bool {
    c.is_alphanumeric() || is_combining_mark(c)
}

/// The words of a text in order. A word that is too long is truncated, and can still be found.
pub fn words(text: &str) -> impl Iterator<Item = String> {
    let mut chars = text
        .nfkd()
        .filter(|c| !is_accent(*c))
        .flat_map(char::to_lowercase)
        .peekable();
    std::iter::from_fn(move || {
        while chars.next_if(|c| !is_in_word(*c)).is_some() {}
        let mut word = String::new();
        let mut length = 0;
        while let Some(c) = chars.next_if(|c| is_in_word(*c)) {
            if length < MAX_WORD_CHARS {
                word.push(c);
            }
            length += 1;
        }
        (length > 0).then_some(word)
    })
}

/// The text in pieces, in order and without a gap; true marks a word that a search matched.
pub fn marked<'t>(text: &'t str, terms: &[SearchTerm]) -> Vec<(bool, &'t str)> {
    let mut pieces = Vec::new();
    let mut rest = text;
    while !rest.is_empty() && !terms.is_empty() {
        let start = rest.find(is_part_of_word).unwrap_or(rest.len());
        let length = rest[start..]
            .find(|c| !is_part_of_word(c))
            .unwrap_or(rest.len() - start);
        let (before, word) = (&rest[..start], &rest[start..start + length]);
        let is_match = words(word).any(|word| terms.iter().any(|term| term.matches(&word)));
        if is_match {
            pieces.extend([(false, before), (true, word)]);
        } else {
            pieces.push((false, &rest[..start + length]));
        }
        rest = &rest[start + length..];
    }
    pieces.push((false, rest));
    pieces.retain(|(_, piece)| !piece.is_empty());
    pieces
}

/// Accents are part of the word they stand on.
fn is_part_of_word(c: char) -> bool {
    is_in_word(c) || is_accent(c)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(text: &str) -> Vec<String> {
        words(text).collect()
    }

    #[test]
    fn words_are_letters_and_digits_without_case_and_accents() {
        assert_eq!(
            all("Deploy v2.10 to PROD-eu?"),
            ["deploy", "v2", "10", "to", "prod", "eu"]
        );
        assert_eq!(all("Größe, Crème brûlée, ÀÉÎ"), ["große", "creme", "brulee", "aei"]);
        assert_eq!(
            all("cre\u{300}me ﬁle Ⅳ 東京 дом"),
            ["creme", "file", "iv", "東京", "дом"]
        );
        assert_eq!(all("हिन्दी में"), ["हिन्दी", "में"]);
    }

    #[test]
    fn text_without_words_gives_none() {
        for text in [
            "",
            " \t\n",
            "\"*-+:^(){}'&|!<>\\%_;",
            "\u{0}\u{202e}\u{200b}",
            "\u{301}\u{301}",
        ] {
            assert!(all(text).is_empty(), "{text:?}");
        }
    }

    #[test]
    fn long_word_is_truncated_not_split() {
        let long = "x".repeat(1_000);
        assert_eq!(all(&format!("{long} y")), ["x".repeat(MAX_WORD_CHARS), "y".to_owned()]);
    }

    #[test]
    fn matched_words_are_marked_as_they_are_written() {
        let terms = [SearchTerm::start("creme"), SearchTerm::whole("a")];
        assert_eq!(
            marked("Crème, cremes & a <b>ab</b>", &terms),
            [
                (true, "Crème"),
                (false, ", "),
                (true, "cremes"),
                (false, " & "),
                (true, "a"),
                (false, " <b"),
                (false, ">ab"),
                (false, "</b"),
                (false, ">"),
            ]
        );
        assert_eq!(marked("plain", &[]), [(false, "plain")]);
        assert!(marked("", &terms).is_empty());
    }
}
