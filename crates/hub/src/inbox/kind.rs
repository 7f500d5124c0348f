//! The kinds of messages as filters spell them and as people read them.

const NOTIFY: &str = "notify";

const KINDS: [(&str, &str); 7] = [
    ("confirm", "confirm"),
    ("select", "choose one"),
    ("many", "choose several"),
    ("text", "text"),
    ("form", "form"),
    ("task", "task"),
    (NOTIFY, "notice"),
];

/// A kind nobody knows is called as it is spelled.
pub fn kind_words(kind: &str) -> &str {
    KINDS
        .iter()
        .find(|(word, _)| *word == kind)
        .map_or(kind, |(_, words)| words)
}

/// Those that open and decided lists hold.
pub fn kinds_to_decide() -> impl Iterator<Item = &'static (&'static str, &'static str)> {
    KINDS.iter().filter(|(kind, _)| *kind != NOTIFY)
}
