//! What a word is, for what is stored and for what is asked alike: letters and digits in a row, without case and without
//! accents. It is said here and not left to the engines, which would each say it in another way.

use std::collections::BTreeSet;

use countersign_core::{Content, Matter};
use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

const LONGEST_WORD: usize = 64;
/// More than the largest body has room for; PostgreSQL refuses an entry of a megabyte.
const MOST_WORDS: usize = 8_192;
const MOST_WORDS_ASKED: usize = 8;

fn is_accent(c: char) -> bool {
    ('\u{300}'..='\u{36f}').contains(&c)
}

/// Some scripts write their vowels as marks, which belong to the word.
fn is_in_word(c: char) -> bool {
    c.is_alphanumeric() || is_combining_mark(c)
}

/// The words of a text in their order. One that is too long is cut, and is still found.
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
            if length < LONGEST_WORD {
                word.push(c);
            }
            length += 1;
        }
        (length > 0).then_some(word)
    })
}

/// What a message is found by, each word once and apart by a space. Nothing of a sensitive one.
pub fn of_message(content: &Content) -> String {
    if content.sensitive {
        return String::new();
    }
    let instructions = match &content.matter {
        Matter::Task(task) => Some(&task.instructions),
        Matter::Ask(_) | Matter::Notify => None,
    };
    let texts = [
        Some(&content.title),
        content.body.as_ref(),
        instructions,
        Some(&content.agent.id),
    ];
    let named = content.agent.project.iter().chain(&content.tags);
    let all = texts.into_iter().flatten().chain(named).flat_map(|text| words(text));
    let each_once: BTreeSet<String> = all.take(MOST_WORDS).collect();
    each_once.into_iter().collect::<Vec<_>>().join(" ")
}

/// A word that is asked for.
#[derive(Debug, PartialEq, Eq)]
pub struct Asked {
    pub word: String,
    /// Whether longer words that begin with it count too. For a single letter that would be nearly everything.
    pub begins: bool,
}

/// The first few of whatever somebody typed.
pub fn asked(text: &str) -> Vec<Asked> {
    let asked = words(text).take(MOST_WORDS_ASKED).map(|word| {
        let begins = word.len() > 1;
        Asked { word, begins }
    });
    asked.collect()
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
    fn what_is_no_word_gives_none() {
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
    fn a_long_word_is_cut_and_does_not_become_two() {
        let long = "x".repeat(1_000);
        assert_eq!(all(&format!("{long} y")), ["x".repeat(LONGEST_WORD), "y".to_owned()]);
    }

    #[test]
    fn only_the_first_words_are_asked_for() {
        assert_eq!(
            asked("one two three four five six seven eight nine ten").len(),
            MOST_WORDS_ASKED
        );
        let begins: Vec<_> = asked("a ab 東").into_iter().map(|asked| asked.begins).collect();
        assert_eq!(begins, [false, true, true]);
    }
}
