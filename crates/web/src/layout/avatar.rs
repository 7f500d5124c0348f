//! Avatars: initials in a colour that follows from the id. Colours are classes, because the content security policy
//! forbids inline styles.

use countersign_core::Digest;

/// The colours in `assets/css/tokens.css`.
const COLOUR_CLASSES: [&str; 12] = ["c0", "c1", "c2", "c3", "c4", "c5", "c6", "c7", "c8", "c9", "c10", "c11"];

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Avatar {
    pub initials: String,
    pub colour_class: &'static str,
}

impl Avatar {
    /// The id sets the colour, so that it stays when the name changes.
    pub fn of(id: &str, name: &str) -> Self {
        let [first, ..] = Digest::of(id.as_bytes()).into_bytes();
        Self {
            initials: initials(name),
            colour_class: COLOUR_CLASSES[usize::from(first) % COLOUR_CLASSES.len()],
        }
    }
}

/// The first letters of the last two words, or the first two letters of a single word. Only letters and digits are
/// taken, so no hidden character gets in.
fn initials(name: &str) -> String {
    let words: Vec<&str> = name
        .split(|character: char| !character.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .collect();
    let letters: Vec<char> = match words[..] {
        [] => vec!['?'],
        [word] => word.chars().take(2).collect(),
        [.., first, second] => first.chars().take(1).chain(second.chars().take(1)).collect(),
    };
    letters
        .into_iter()
        .map(|letter| letter.to_uppercase().next().unwrap_or(letter))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn initials_come_from_letters_and_digits_only() {
        let shown = [
            "deploybot",
            "acme/onboarding",
            "ci nightly 2",
            "ß",
            "\u{202e}\u{200b}",
            "über-bot",
            "x",
        ];
        assert_eq!(shown.map(initials), ["DE", "AO", "N2", "S", "?", "ÜB", "X"]);
    }

    #[test]
    fn colour_follows_from_the_id_alone() {
        assert_eq!(Avatar::of("a", "one").colour_class, Avatar::of("a", "two").colour_class);
        let classes: std::collections::HashSet<_> = (0..200)
            .map(|number| Avatar::of(&format!("agent-{number}"), "x").colour_class)
            .collect();
        assert_eq!(classes.len(), COLOUR_CLASSES.len(), "every colour is used");
    }
}
