//! The few statements that differ between SQLite and PostgreSQL, side by side.
//!
//! Most belong to the search: each engine has its own index, and messages are indexed after their commit, in an order
//! that matters only with several writers. Others claim due rows: with several writers each skips the rows that another
//! one has locked. The rest add a note to a message and lock it against a concurrent purge.

use countersign_core::search::SearchTerm;

use super::list::latest_decided;
use super::rows;
use super::search::candidates;

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
    /// `candidates` that match the words ?9, in the order of their arrival.
    pub search_arrived: &'static str,
    /// The same in the order of their decision.
    pub search_decided: &'static str,
    /// The messages whose seqs are in the JSON array ?1.
    pub items_by_seq: &'static str,
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

macro_rules! search_decided {
    ($matching:literal) => {
        candidates!(
            "resolved_at",
            " AND m.seq IN (",
            $matching,
            ")) FROM message m WHERE m.seq IN (",
            latest_decided!(),
            ") ORDER BY m.resolved_at DESC, m.seq DESC"
        )
    };
}

macro_rules! items_by_seq {
    ($seqs:literal) => {
        rows::select_items!("WHERE m.seq IN (", $seqs, ") AND m.purged_at IS NULL")
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
    // FTS5 itself reads in the order of the rowid, so the statement ends at its limit.
    search_arrived: candidates!(
        "received_at",
        ") FROM message_search CROSS JOIN message m WHERE message_search MATCH ?9 AND message_search.rowid < ?2 \
         AND m.seq = message_search.rowid AND CAST(?1 AS BIGINT) IS NOT NULL \
         ORDER BY message_search.rowid DESC LIMIT ?3"
    ),
    search_decided: search_decided!("SELECT rowid FROM message_search WHERE message_search MATCH ?9"),
    items_by_seq: items_by_seq!("SELECT value FROM json_each(?1)"),
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
    search_arrived: candidates!(
        "received_at",
        ") FROM message_search s JOIN message m ON m.seq = s.seq WHERE s.words @@ CAST(CAST(?9 AS TEXT) AS TSQUERY) \
         AND s.seq < ?2 AND CAST(?1 AS BIGINT) IS NOT NULL ORDER BY s.seq DESC LIMIT ?3"
    ),
    search_decided: search_decided!("SELECT seq FROM message_search WHERE words @@ CAST(CAST(?9 AS TEXT) AS TSQUERY)"),
    items_by_seq: items_by_seq!("SELECT CAST(json_array_elements_text(CAST(CAST(?1 AS TEXT) AS JSON)) AS BIGINT)"),
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
