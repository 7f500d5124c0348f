//! Tokenization, the same for indexing and for queries: runs of letters and digits, case-folded and without accents. It
//! is done here because each engine's own tokenizer would give different results.

use std::collections::BTreeSet;

use countersign_core::{Content, Payload};
use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

const MAX_WORD_CHARS: usize = 64;
/// More than the largest body can hold; PostgreSQL refuses a tsvector of a megabyte.
const MAX_WORDS: usize = 8_192;
const MAX_SEARCH_TERMS: usize = 8;

fn is_accent(c: char) -> bool {
    ('\u{300}'..='\u{36f}').contains(&c)
}

/// Some scripts write vowels as combining marks, which belong to the word.
fn is_in_word(c: char) -> bool {
    c.is_alphanumeric() || is_combining_mark(c)
}

/// The words of a text in order. A word that is too long is truncated, and can still be found.
fn words(text: &str) -> impl Iterator<Item = String> {
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

/// The distinct words of a message, separated by spaces. None for a sensitive message.
pub fn of_message(content: &Content) -> String {
    if content.sensitive {
        return String::new();
    }
    let instructions = match &content.payload {
        Payload::Task(task) => Some(&task.instructions),
        Payload::Ask(_) | Payload::Notify => None,
    };
    let texts = [
        Some(&content.title),
        content.body.as_ref(),
        instructions,
        Some(&content.agent.id),
    ];
    let named = content.agent.project.iter().chain(&content.tags);
    let all = texts.into_iter().flatten().chain(named).flat_map(|text| words(text));
    let each_once: BTreeSet<String> = all.take(MAX_WORDS).collect();
    each_once.into_iter().collect::<Vec<_>>().join(" ")
}

/// A word to search for.
#[derive(Debug, PartialEq, Eq)]
pub struct SearchTerm {
    pub word: String,
    /// Whether longer words that begin with it match too. A single letter would match nearly everything.
    pub is_prefix: bool,
}

/// The first words of the typed search text.
pub fn search_terms(text: &str) -> Vec<SearchTerm> {
    let terms = words(text).take(MAX_SEARCH_TERMS).map(|word| {
        let is_prefix = word.len() > 1;
        SearchTerm { word, is_prefix }
    });
    terms.collect()
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
    fn search_uses_only_the_first_words() {
        assert_eq!(
            search_terms("one two three four five six seven eight nine ten").len(),
            MAX_SEARCH_TERMS
        );
        let is_prefix: Vec<_> = search_terms("a ab 東").into_iter().map(|term| term.is_prefix).collect();
        assert_eq!(is_prefix, [false, true, true]);
    }
}
