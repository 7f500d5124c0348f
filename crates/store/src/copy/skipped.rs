//! The tables that a copy skips, each with its reason. Everything else is copied.

pub const SKIPPED_TABLES: [(&str, &str); 6] = [
    (
        "message_search",
        "each engine has its own search index; the hub rebuilds it",
    ),
    ("search_mark", "the progress of that index; it starts again from zero"),
    (
        "schema_version",
        "the target reaches the same version by its own migrations",
    ),
    ("node", "the running hubs; they register again on the new store"),
    ("rate", "rate-limit counters; they start again"),
    (super::marker::TABLE, "the marker of a copy in progress"),
];

pub fn is_skipped(table: &str) -> bool {
    SKIPPED_TABLES.iter().any(|(name, _)| *name == table)
}
