//! The few statements that differ between SQLite and PostgreSQL, side by side.
//!
//! Most belong to the search: each engine has its own index, and messages are indexed after their commit, in an order
//! that matters only with several writers. Others claim due rows: with several writers each skips the rows that another
//! one has locked. The rest add a note to a message and lock it against a concurrent purge.

use super::rows;
use super::search::SearchTerm;

pub struct Dialect {
    /// Claims up to ?4 deliveries of the host ?2 that are due at ?3, for the node ?5 if it exists, until ?1:
    /// message_id, agent_id, attempts, created_at.
    pub claim_due: &'static str,
    /// Open messages that expired before ?1 and are not on hold, oldest first, at most ?2, locked until the transaction
    /// ends: id.
    pub overdue: &'static str,
    /// Messages whose hold ends at ?1 or before, oldest first, at most ?2, locked until the transaction ends: id.
    pub due_holds: &'static str,
    /// Records at ?2 that the answer of message ?1 was fetched, the first time only and only while the message is kept.
    pub note_fetched: &'static str,
    /// Snoozes the message ?2 for the person ?1 until ?3, if it is open.
    pub snooze: &'static str,
    /// Archives the message ?2 for the person ?1, if it is resolved and not purged.
    pub archive: &'static str,
    /// The ids of the oldest running transaction and of the next one to begin.
    pub running_transactions: &'static str,
    /// Messages after ?1 that are not indexed, at most ?2: seq, content, wire.
    pub unindexed: &'static str,
    /// Indexes the message ?1 under the words ?2, separated by spaces.
    pub index_message: &'static str,
    pub remove_from_index: &'static str,
    /// Builds the engine's query for all of the terms.
    pub search_query: fn(&[SearchTerm]) -> String,
    /// Items that match ?1 before the seq ?2, newest first, at most ?3.
    pub search_items: &'static str,
    /// The versions of the runs whose ids are in the JSON array ?1: run_id, segment, status, completed_at, write_id,
    /// number of open asks, seq.
    pub run_versions: &'static str,
}

// MATERIALIZED: PostgreSQL could otherwise run the subquery once per row, and so exceed the limit.
macro_rules! claim_due {
    ($skipping:literal) => {
        concat!(
            "WITH due AS MATERIALIZED (SELECT message_id FROM delivery WHERE track = 'pending' AND host = ?2 \
             AND due_at <= ?3 AND EXISTS (SELECT 1 FROM node WHERE id = ?5) ORDER BY due_at LIMIT ?4",
            $skipping,
            ") UPDATE delivery SET due_at = ?1, claimed_by = ?5 WHERE message_id IN (SELECT message_id FROM due) \
             RETURNING message_id, agent_id, attempts, created_at"
        )
    };
}

macro_rules! overdue {
    ($skipping:literal) => {
        concat!(
            "SELECT id FROM message WHERE status = 'open' AND expires_at IS NOT NULL \
             AND expires_at < ?1 AND held_until IS NULL ORDER BY expires_at LIMIT ?2",
            $skipping
        )
    };
}

macro_rules! due_holds {
    ($skipping:literal) => {
        concat!(
            "SELECT id FROM message WHERE held_until IS NOT NULL AND held_until <= ?1 AND status = 'open' \
             ORDER BY held_until LIMIT ?2",
            $skipping
        )
    };
}

macro_rules! run_versions {
    ($ids:literal) => {
        concat!(
            "SELECT r.run_id, r.segment, r.status, r.completed_at, r.write_id, (SELECT count(*) FROM run_ask a \
             JOIN message m ON m.seq = a.message_seq WHERE a.run_seq = r.seq AND a.done = 0 \
             AND a.segment = r.segment AND m.status = 'open'), r.seq FROM run r WHERE r.run_id IN (",
            $ids,
            ")"
        )
    };
}

// The lock on the message orders the note before or after a concurrent purge.
macro_rules! note_fetched {
    ($holding:literal) => {
        concat!(
            "INSERT INTO fetched (seq, at) SELECT seq, CAST(?2 AS BIGINT) FROM message \
             WHERE id = ?1 AND resolution_seq IS NOT NULL",
            $holding,
            " ON CONFLICT (seq) DO NOTHING"
        )
    };
}

macro_rules! snooze {
    ($holding:literal) => {
        concat!(
            "INSERT INTO shelf (person, seq, until) SELECT CAST(?1 AS TEXT), seq, CAST(?3 AS BIGINT) \
             FROM message WHERE id = ?2 AND status = 'open'",
            $holding,
            " ON CONFLICT (person, seq) DO UPDATE SET until = excluded.until"
        )
    };
}

macro_rules! archive {
    ($holding:literal) => {
        concat!(
            "INSERT INTO shelf (person, seq, until) SELECT CAST(?1 AS TEXT), seq, NULL \
             FROM message WHERE id = ?2 AND status <> 'open' AND purged_at IS NULL",
            $holding,
            " ON CONFLICT (person, seq) DO UPDATE SET until = NULL"
        )
    };
}

pub const SQLITE: Dialect = Dialect {
    claim_due: claim_due!(""),
    overdue: overdue!(""),
    due_holds: due_holds!(""),
    note_fetched: note_fetched!(""),
    snooze: snooze!(""),
    archive: archive!(""),
    // One writer: no other transaction is running.
    running_transactions: "SELECT 1, 0",
    // With one writer, every message after the checkpoint is missing.
    unindexed: "SELECT m.seq, t.content, t.wire FROM message m JOIN message_text t ON t.seq = m.seq \
         WHERE m.seq > ?1 ORDER BY m.seq LIMIT ?2",
    index_message: "INSERT INTO message_search (rowid, words) VALUES (?1, ?2)",
    remove_from_index: "DELETE FROM message_search WHERE rowid = ?1",
    search_query: fts5_query,
    search_items: rows::select_items!(
        "WHERE m.seq IN (SELECT rowid FROM message_search WHERE message_search MATCH ?1 AND rowid < ?2 \
         ORDER BY rowid DESC LIMIT ?3) AND m.purged_at IS NULL ORDER BY m.seq DESC"
    ),
    run_versions: run_versions!("SELECT value FROM json_each(?1)"),
};

pub const POSTGRES: Dialect = Dialect {
    claim_due: claim_due!(" FOR UPDATE SKIP LOCKED"),
    overdue: overdue!(" FOR UPDATE SKIP LOCKED"),
    due_holds: due_holds!(" FOR UPDATE SKIP LOCKED"),
    note_fetched: note_fetched!(" FOR SHARE"),
    snooze: snooze!(" FOR SHARE"),
    archive: archive!(" FOR SHARE"),
    // From this statement's snapshot; both numbers only grow.
    running_transactions: "SELECT pg_snapshot_xmin(s)::text::bigint, pg_snapshot_xmax(s)::text::bigint FROM pg_current_snapshot() s",
    unindexed: "SELECT m.seq, t.content, t.wire FROM message m JOIN message_text t ON t.seq = m.seq \
         LEFT JOIN message_search s ON s.seq = m.seq WHERE m.seq > ?1 AND s.seq IS NULL ORDER BY m.seq LIMIT ?2",
    index_message: "INSERT INTO message_search (seq, words) \
         VALUES (?1, array_to_tsvector(array_remove(string_to_array(?2, ' '), '')))",
    remove_from_index: "DELETE FROM message_search WHERE seq = ?1",
    search_query: tsquery,
    search_items: rows::select_items!(
        "WHERE m.seq IN (SELECT seq FROM message_search WHERE words @@ CAST(CAST(?1 AS TEXT) AS TSQUERY) AND seq < ?2 \
         ORDER BY seq DESC LIMIT ?3) AND m.purged_at IS NULL ORDER BY m.seq DESC"
    ),
    run_versions: run_versions!("SELECT json_array_elements_text(CAST(CAST(?1 AS TEXT) AS JSON))"),
};

/// Words hold only letters and digits, so none can end the quotes; the quotes keep a word from being read as an
/// operator.
fn fts5_query(terms: &[SearchTerm]) -> String {
    let quoted = terms
        .iter()
        .map(|SearchTerm { word, is_prefix }| format!("\"{word}\"{}", if *is_prefix { "*" } else { "" }));
    quoted.collect::<Vec<_>>().join(" AND ")
}

fn tsquery(terms: &[SearchTerm]) -> String {
    let quoted = terms
        .iter()
        .map(|SearchTerm { word, is_prefix }| format!("'{word}'{}", if *is_prefix { ":*" } else { "" }));
    quoted.collect::<Vec<_>>().join(" & ")
}
