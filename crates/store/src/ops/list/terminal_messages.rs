//! Terminal messages in the order they ended, from an index per status: one status is found at once, however rare, and
//! all statuses are a few short index reads merged together.

/// The seqs of one status that ended before (?1, ?2), latest first, at most ?3.
macro_rules! latest_of {
    ($status:literal) => {
        concat!(
            "SELECT * FROM (SELECT seq, resolved_at FROM message WHERE status = '",
            $status,
            "' AND resolved_at IS NOT NULL AND (resolved_at, seq) < (?1, ?2) ",
            "ORDER BY resolved_at DESC, seq DESC LIMIT ?3) AS ",
            $status
        )
    };
}

/// The same for every final status of an ask or a task.
macro_rules! latest_decided {
    () => {
        concat!(
            "SELECT seq FROM (",
            $crate::ops::list::latest_of!("answered"),
            " UNION ALL ",
            $crate::ops::list::latest_of!("declined"),
            " UNION ALL ",
            $crate::ops::list::latest_of!("cancelled"),
            " UNION ALL ",
            $crate::ops::list::latest_of!("completed"),
            " UNION ALL ",
            $crate::ops::list::latest_of!("dismissed"),
            " UNION ALL ",
            $crate::ops::list::latest_of!("expired"),
            ") AS decided ORDER BY resolved_at DESC, seq DESC LIMIT ?3"
        )
    };
}
pub(in crate::ops) use {latest_decided, latest_of};

/// The earliest messages of one status that ended before ?1, at most ?2.
macro_rules! first_of {
    ($status:literal) => {
        concat!(
            "SELECT * FROM (SELECT seq, resolution_seq, resolved_at FROM message WHERE status = '",
            $status,
            "' AND resolved_at IS NOT NULL AND resolved_at < ?1 ORDER BY resolved_at LIMIT ?2) AS ",
            $status
        )
    };
}

/// The earliest messages of any status that ended before ?1, at most ?2: seq, resolution_seq.
pub const OLDEST_TERMINAL: &str = concat!(
    "SELECT seq, resolution_seq FROM (",
    first_of!("delivered"),
    " UNION ALL ",
    first_of!("answered"),
    " UNION ALL ",
    first_of!("declined"),
    " UNION ALL ",
    first_of!("cancelled"),
    " UNION ALL ",
    first_of!("completed"),
    " UNION ALL ",
    first_of!("dismissed"),
    " UNION ALL ",
    first_of!("expired"),
    ") AS ended ORDER BY resolved_at LIMIT ?2"
);

/// When the earliest message of the status ?1 ended.
pub const EARLIEST_END: &str =
    "SELECT resolved_at FROM message WHERE status = ?1 AND resolved_at IS NOT NULL ORDER BY resolved_at LIMIT 1";
