//! The kinds of messages: the word that filters use, and the label that people read.

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

/// Returns the label of a kind. An unknown kind is its own label.
pub fn kind_label(kind: &str) -> &str {
    KINDS
        .iter()
        .find(|(word, _)| *word == kind)
        .map_or(kind, |(_, text)| text)
}

/// The kinds that need a decision and can therefore occur in the open and decided lists.
pub fn kinds_to_decide() -> impl Iterator<Item = &'static (&'static str, &'static str)> {
    KINDS.iter().filter(|(kind, _)| *kind != NOTIFY)
}
