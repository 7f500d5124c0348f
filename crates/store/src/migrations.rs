//! The schema migrations: one file per version, with the same version numbers for every engine.

pub const SCHEMA_VERSION: i64 = 8;
const COUNT: usize = SCHEMA_VERSION as usize;

pub const SQLITE: [&str; COUNT] = [
    include_str!("../migrations/sqlite/001_initial.sql"),
    include_str!("../migrations/sqlite/002_inbox.sql"),
    include_str!("../migrations/sqlite/003_terminal.sql"),
    include_str!("../migrations/sqlite/004_bounds.sql"),
    include_str!("../migrations/sqlite/005_runs.sql"),
    include_str!("../migrations/sqlite/006_nodes.sql"),
    include_str!("../migrations/sqlite/007_holds.sql"),
    include_str!("../migrations/sqlite/008_agent_names.sql"),
];
pub const POSTGRES: [&str; COUNT] = [
    include_str!("../migrations/postgres/001_initial.sql"),
    include_str!("../migrations/postgres/002_inbox.sql"),
    include_str!("../migrations/postgres/003_terminal.sql"),
    include_str!("../migrations/postgres/004_bounds.sql"),
    include_str!("../migrations/postgres/005_runs.sql"),
    include_str!("../migrations/postgres/006_nodes.sql"),
    include_str!("../migrations/postgres/007_holds.sql"),
    include_str!("../migrations/postgres/008_agent_names.sql"),
];

/// The migrations that a store of version `found` still lacks, in order.
pub fn after(found: i64, texts: [&'static str; COUNT]) -> impl Iterator<Item = (i64, &'static str)> {
    (1..).zip(texts).filter(move |(version, _)| *version > found)
}
