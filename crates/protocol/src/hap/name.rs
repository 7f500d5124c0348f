//! Names of terminal agents and their runtimes.

const CONSONANTS: &[u8; 20] = b"bcdfghjklmnpqrstvwxz";
const VOWELS: &[u8; 5] = b"aeiou";
const CODAS: [&str; 10] = ["", "n", "r", "l", "s", "m", "nd", "st", "rk", "ld"];
const MIN_LETTERS: usize = 8;
const MAX_LETTERS: usize = 12;
const MAX_RUNTIME_CHARS: usize = 64;
const MAX_ID_CHARS: usize = 64;

/// A random pronounceable name: three to five syllables, 8 to 12 letters. `None` if the random bits give a shorter one;
/// try again with others. The store checks whether the name is taken.
pub fn agent_id(random: u128) -> Option<String> {
    let mut draw = Draw(random);
    let syllables = 3 + draw.below(3);
    let mut name = String::new();
    for _ in 0..syllables {
        name.push(char::from(CONSONANTS[draw.below(CONSONANTS.len())]));
        name.push(char::from(VOWELS[draw.below(VOWELS.len())]));
        name.push_str(CODAS[draw.below(CODAS.len())]);
    }
    name.truncate(MAX_LETTERS);
    (name.len() >= MIN_LETTERS).then_some(name)
}

/// Whether a terminal agent may have this name: plain ASCII, not a command-line option, and without the `:` of
/// `human:…`, so that it cannot look like another actor in the audit trail.
pub fn is_agent_id(text: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
    (1..=MAX_ID_CHARS).contains(&text.len())
        && text.bytes().all(is_plain)
        && text.starts_with(|first: char| first.is_ascii_alphanumeric())
}

struct Draw(u128);

impl Draw {
    fn below(&mut self, bound: usize) -> usize {
        let bound = bound as u128;
        let drawn = self.0 % bound;
        self.0 /= bound;
        usize::try_from(drawn).unwrap_or_default()
    }
}

/// Normalizes a runtime: lowercase letters, digits and `_`; blanks and `-` become `_`. `None` for other characters.
pub fn runtime(text: &str) -> Option<String> {
    let text = text.trim().to_lowercase();
    if text.is_empty() {
        return Some("unknown".to_owned());
    }
    let mut name = String::new();
    for character in text.chars() {
        match character {
            'a'..='z' | '0'..='9' | '_' => name.push(character),
            _ if character == '-' || character.is_whitespace() => {
                if !name.ends_with('_') {
                    name.push('_');
                }
            }
            _ => return None,
        }
    }
    (name.chars().count() <= MAX_RUNTIME_CHARS).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn generated_names_have_8_to_12_lowercase_letters() {
        let step = u128::MAX / 10_007;
        let names: Vec<String> = (0..10_000).filter_map(|n| agent_id(n * step + 7919 * n)).collect();
        assert!(names.len() > 5_000, "{}", names.len());
        for name in &names {
            assert!(
                (8..=12).contains(&name.len()) && name.bytes().all(|byte| byte.is_ascii_lowercase()),
                "{name}"
            );
        }
    }

    #[test]
    fn an_agent_id_is_plain_ascii() {
        for name in ["gavonel", "Agent-7", "a.b_c", "x", &"x".repeat(64)] {
            assert!(is_agent_id(name), "{name:?}");
        }
        for name in [
            "",
            "human:owner",
            "system:imported",
            "a b",
            "a\u{200b}b",
            "\u{202e}gnp",
            "$(id)",
            "../x",
            "-v",
            ".",
            "é",
            &"x".repeat(65),
        ] {
            assert!(!is_agent_id(name), "{name:?}");
        }
    }

    #[test]
    fn runtimes_are_normalized_and_invalid_ones_refused() {
        for (text, name) in [
            ("claude_code", "claude_code"),
            (" Claude  -Code", "claude_code"),
            ("-v", "_v"),
            ("  ", "unknown"),
            ("v2", "v2"),
        ] {
            assert_eq!(runtime(text).as_deref(), Some(name), "{text:?}");
        }
        for text in ["日本", "a/b;c", "a\u{1b}[31m", &"x".repeat(65)] {
            assert_eq!(runtime(text), None, "{text:?}");
        }
    }
}
