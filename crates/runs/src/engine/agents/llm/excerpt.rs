//! Excerpts of a server's response for error messages: short, in one line, and without the API key.

use crate::settings::Secret;

const MAX_CHARS: usize = 500;
const HIDDEN: &str = "(key)";

/// The first 500 characters, with the key redacted: some servers repeat a key they reject.
pub fn excerpt(bytes: &[u8], key: Option<&Secret>) -> String {
    let mut text = String::from_utf8_lossy(bytes).into_owned();
    if let Some(key) = key {
        text = text.replace(key.reveal(), HIDDEN);
    }
    let words = text
        .split(|c: char| c.is_whitespace() || c.is_control())
        .filter(|word| !word.is_empty());
    let line = words.collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(MAX_CHARS) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_excerpt_is_short_and_without_the_key() {
        let key = Secret::new("sk-1".to_owned());
        assert_eq!(excerpt(b"bad\r\n\tkey sk-1!\x1b[2J", Some(&key)), "bad key (key)! [2J");
        assert_eq!(excerpt(b"", None), "");
        let long = excerpt("ä".repeat(600).as_bytes(), None);
        assert_eq!(long.chars().count(), 501);
        // The key is redacted before the text is cut, so that no part of it stays.
        let at_the_cut = format!("{}sk-1", "x".repeat(498));
        assert!(!excerpt(at_the_cut.as_bytes(), Some(&key)).contains("sk"));
    }
}
