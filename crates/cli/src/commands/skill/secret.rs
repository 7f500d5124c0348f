//! Detects likely secrets. A heuristic on the safe side: pages are public, and a token in one is leaked.

/// Known token prefixes, with the minimum length of the rest.
const TOKEN_PREFIXES: [(&str, usize); 14] = [
    ("csa_", 4),
    ("csp_", 4),
    ("css_", 4),
    ("whsec_", 4),
    ("sk-", 16),
    ("sk_", 16),
    ("ghp_", 16),
    ("gho_", 16),
    ("ghs_", 16),
    ("github_pat_", 16),
    ("glpat-", 16),
    ("xox", 16),
    ("AKIA", 12),
    ("eyJ", 16),
];
const MIN_RANDOM_CHARS: usize = 32;

/// Whether a word in the text could be a token or a key.
pub fn looks_secret(text: &str) -> bool {
    text.contains("-----BEGIN") || text_words(text).any(|word| has_token_prefix(word) || is_random(word))
}

/// Runs of base64, base64url and hex characters. A slash and an equals sign end a run, so that neither a path nor
/// `key=value` is one word; a base64 key has long enough runs without them.
fn text_words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '+')))
}

fn has_token_prefix(word: &str) -> bool {
    TOKEN_PREFIXES
        .iter()
        .any(|(mark, least)| word.strip_prefix(mark).is_some_and(|rest| rest.len() >= *least))
}

/// Long, and either all hex or a mix of digits and both cases that no name has.
fn is_random(word: &str) -> bool {
    let count = |is: fn(&u8) -> bool| word.bytes().filter(is).count();
    let digits = count(u8::is_ascii_digit);
    let mixed = digits >= 3 && count(u8::is_ascii_uppercase) >= 3 && count(u8::is_ascii_lowercase) >= 3;
    let hex = digits >= 3 && word.bytes().all(|byte| byte.is_ascii_hexdigit());
    word.len() >= MIN_RANDOM_CHARS && (mixed || hex)
}

/// Shorter names can be guessed, or are no secret.
const MIN_RANDOM_NAME_CHARS: usize = 16;
/// In a meaningful name case and digits change about once per word; in a random one at every other character.
const CHARACTERS_PER_CHANGE: usize = 6;

/// Whether a path segment looks unguessable. Stricter than [`looks_secret`], because URLs that grant access by
/// themselves are common.
pub fn is_random_name(name: &str) -> bool {
    let length = name.bytes().filter(u8::is_ascii_alphanumeric).count();
    let only_digits = name.bytes().all(|byte| byte.is_ascii_digit());
    let pairs = name.as_bytes().windows(2);
    let changes = pairs.filter(|pair| changes(pair[0], pair[1])).count();
    length >= MIN_RANDOM_NAME_CHARS && (only_digits || changes * CHARACTERS_PER_CHANGE >= length)
}

fn changes(one: u8, next: u8) -> bool {
    (one.is_ascii_digit() && next.is_ascii_alphabetic())
        || (one.is_ascii_alphabetic() && next.is_ascii_digit())
        || (one.is_ascii_lowercase() && next.is_ascii_uppercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_and_keys_are_noticed() {
        for text in [
            "csa_BeqyUGBX",
            "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
            "https://hooks.example/?k=csp_Tpo0zjBS",
            "ghp_abcdefghij0123456789",
            "key=3073dec57c04075d0b6bfa17c300fa9600ad92fb13e485e410c8a95274ac47ed",
            "In3evtBNZywRzuNYkphbw-_764_Wu98zWM5rZ1iN4VI",
            "-----BEGIN PRIVATE KEY-----",
        ] {
            assert!(looks_secret(text), "{text}");
        }
    }

    #[test]
    fn names_and_ids_are_no_secrets() {
        for text in [
            "COUNTERSIGN_TOKEN",
            "acme/deployer-of-the-production-cluster-2-in-europe",
            "https://hooks.example/9f1c2a3b-1111-4222-8333-0123456789ab/resume",
            "msg_01m7gptxn6eh8aa11h8z5bhb8q",
            "the prefix csa_ alone",
            "sk-deployer",
        ] {
            assert!(!looks_secret(text), "{text}");
        }
    }

    #[test]
    fn a_random_part_of_a_path_is_noticed() {
        for name in [
            "9f1c2a3b-1111-4222-8333-0123456789ab",
            "Zk3Tq8vB1nLw5RyP",
            "kJhGfDsAqWeRtYuIoPzX",
            "3073dec57c04075d0b6bfa17",
            "mzxw6ytboi4dgnbv7a3q",
            "12345678901234567890",
        ] {
            assert!(is_random_name(name), "{name}");
        }
        for name in [
            "",
            "resume",
            "countersign-callback-production-europe-2",
            "resumeAfterHumanApprovalForDeploy",
            "release-2026-11-15-build42",
            "a2h-resume-v2",
        ] {
            assert!(!is_random_name(name), "{name}");
        }
    }
}
