//! The statements of a search. They return short rows; the messages are read afterwards.

use countersign_core::message::Status;
use countersign_core::search::SearchQuery;
use countersign_protocol::time::Timestamp;

use super::SearchOrder;
use crate::error::StoreError;
use crate::exec::{Exec, Param, Row};
use crate::ops::dialect::Dialect;
use crate::ops::list::latest_decided;

/// A place in a list: when the message arrived or was decided, and its seq.
pub type Position = (Timestamp, i64);

pub const SEQ: usize = 0;
pub const AT: usize = 1;
pub const AGENT: usize = 2;
pub const WANTED: usize = 3;

/// Rows before the position (?1, ?2), at most ?3: seq, time, agent, and whether the row is wanted, which is one of the agent
/// ?4, of the statuses ?5, from the time ?6 on and before ?7, and with a resolution like ?8.
macro_rules! candidates {
    ($time:literal, $($rest:tt)+) => {
        concat!(
            "SELECT m.seq, m.", $time, ", m.agent_id, (m.purged_at IS NULL AND (?4 = '' OR m.agent_id = ?4) \
             AND (?5 = '' OR ?5 LIKE '% ' || m.status || ' %') AND m.", $time, " >= ?6 AND m.", $time, " < ?7 \
             AND (?8 = '' OR EXISTS (SELECT 1 FROM resolution r WHERE r.seq = m.resolution_seq \
             AND r.body LIKE ?8 ESCAPE '!'))",
            $($rest)+
        )
    };
}
pub(in crate::ops) use candidates;

// The position's time is not needed in the order of arrival; PostgreSQL wants to know its type all the same.
const ARRIVED: &str = candidates!(
    "received_at",
    ") FROM message m WHERE m.seq < ?2 AND CAST(?1 AS BIGINT) IS NOT NULL ORDER BY m.seq DESC LIMIT ?3"
);
const ARRIVED_OF_AGENT: &str = candidates!(
    "received_at",
    ") FROM message m WHERE m.agent_id = ?4 AND m.seq < ?2 AND CAST(?1 AS BIGINT) IS NOT NULL \
     ORDER BY m.seq DESC LIMIT ?3"
);
const DECIDED: &str = candidates!(
    "resolved_at",
    ") FROM message m WHERE m.seq IN (",
    latest_decided!(),
    ") ORDER BY m.resolved_at DESC, m.seq DESC"
);

/// A statement with its parameters, without the position.
pub struct Statement {
    sql: &'static str,
    agent: String,
    statuses: String,
    after: i64,
    before: i64,
    resolution: String,
    /// The engine's query for the words, in statements that have one.
    words: Option<String>,
}

impl Statement {
    pub fn of(query: &SearchQuery, order: SearchOrder, dialect: &Dialect) -> Self {
        let terms = query.index_terms();
        let sql = match (order, terms.is_empty(), &query.agent) {
            (SearchOrder::Arrived, true, None) => ARRIVED,
            (SearchOrder::Arrived, true, Some(_)) => ARRIVED_OF_AGENT,
            (SearchOrder::Arrived, false, _) => dialect.search_arrived,
            (SearchOrder::Decided, true, _) => DECIDED,
            (SearchOrder::Decided, false, _) => dialect.search_decided,
        };
        let millis = |time: Option<Timestamp>, open_end: i64| time.map_or(open_end, Timestamp::as_millis);
        Self {
            sql,
            agent: query.agent.clone().unwrap_or_default(),
            statuses: statuses(query),
            after: millis(query.after, i64::MIN),
            before: millis(query.before, i64::MAX),
            resolution: query.by.as_deref().map(actor_pattern).unwrap_or_default(),
            words: (!terms.is_empty()).then(|| (dialect.search_query)(&terms)),
        }
    }

    pub async fn rows<X: Exec>(&self, x: &mut X, at: Option<Position>, count: usize) -> Result<Vec<Row>, StoreError> {
        let (time, seq) = at.unwrap_or((Timestamp::from_millis(i64::MAX), i64::MAX));
        let mut params: Vec<Param<'_>> = vec![
            time.into(),
            seq.into(),
            i64::try_from(count).unwrap_or(i64::MAX).into(),
            (&self.agent).into(),
            (&self.statuses).into(),
            self.after.into(),
            self.before.into(),
            (&self.resolution).into(),
        ];
        params.extend(self.words.as_ref().map(Param::from));
        x.rows(self.sql, &params).await
    }
}

/// The statuses between spaces; nothing if any will do.
fn statuses(query: &SearchQuery) -> String {
    let statuses = query.state.map(|state| state.statuses()).unwrap_or_default();
    let words: Vec<&str> = statuses.into_iter().map(Status::as_str).collect();
    if words.is_empty() {
        String::new()
    } else {
        format!(" {} ", words.join(" "))
    }
}

/// Resolutions that may name the actor. The message tells for sure.
fn actor_pattern(name: &str) -> String {
    let mut pattern = String::from("%\"actor\":\"%");
    for c in name.chars() {
        match c {
            '%' | '_' | '!' => pattern.extend(['!', c]),
            // JSON may write these in several ways.
            '"' | '\\' | '\0'..='\x1f' | '\x7f'.. => pattern.push('%'),
            c => pattern.push(c),
        }
    }
    pattern.push_str("\"%");
    pattern
}
