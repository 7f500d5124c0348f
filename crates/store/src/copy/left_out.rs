//! What a copy leaves behind, and why. Everything else is copied.

pub const LEFT_OUT: [(&str, &str); 6] = [
    (
        "message_search",
        "each engine has a search index of its own; the hub fills it anew",
    ),
    ("search_mark", "how far that index has come; it begins at nought"),
    (
        "schema_version",
        "the target has been brought to the same version by its own migrations",
    ),
    (
        "node",
        "which hubs are at work; on the new store they announce themselves",
    ),
    ("rate", "how much was asked lately; it is counted anew"),
    (super::mark::TABLE, "the mark of a copy under way"),
];

pub fn is_left_out(table: &str) -> bool {
    LEFT_OUT.iter().any(|(name, _)| *name == table)
}
