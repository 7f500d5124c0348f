//! Lists: the open inbox, and the messages of an agent or of all, newest first. Pages seek; none counts or skips.

use countersign_protocol::time::Timestamp;

use super::rows;
use crate::error::StoreError;
use crate::exec::{Exec, Mode, Op};
use crate::model::{Cursor, Item};

/// Open asks and tasks, urgent first, then the longest waiting.
pub struct Inbox {
    pub after: Option<Cursor>,
    pub limit: i64,
}

impl Op for Inbox {
    type Out = Vec<Item>;
    const MODE: Mode = Mode::Scan;

    async fn run<X: Exec>(&self, x: &mut X, _now: Timestamp) -> Result<Vec<Item>, StoreError> {
        const SELECT: &str = rows::select_messages!(
            "m.seq",
            "WHERE m.status = 'open' AND (m.rank, m.seq) > (?1, ?2) ORDER BY m.rank, m.seq LIMIT ?3"
        );
        let (rank, seq) = self.after.as_ref().map_or((-1, 0), |cursor| (cursor.rank, cursor.seq));
        let mut items = Vec::new();
        for mut row in x.rows(SELECT, &[rank.into(), seq.into(), self.limit.into()]).await? {
            items.push(Item { seq: row.int(rows::MESSAGE)?, message: rows::message(&mut row)?, delivery: None });
        }
        Ok(items)
    }
}

/// Newest first; of one agent or of all, of one status or of any.
pub struct History {
    pub agent_id: Option<String>,
    pub status: Option<String>,
    pub before: Option<i64>,
    pub limit: i64,
}

impl Op for History {
    type Out = Vec<Item>;
    const MODE: Mode = Mode::Scan;

    async fn run<X: Exec>(&self, x: &mut X, _now: Timestamp) -> Result<Vec<Item>, StoreError> {
        const ALL: &str = rows::select_items!(
            "WHERE m.purged_at IS NULL AND m.seq < ?1 AND (?2 = '' OR m.status = ?2) ORDER BY m.seq DESC LIMIT ?3"
        );
        const OF_AGENT: &str = rows::select_items!(
            "WHERE m.purged_at IS NULL AND m.seq < ?1 AND (?2 = '' OR m.status = ?2) AND m.agent_id = ?4 \
             ORDER BY m.seq DESC LIMIT ?3"
        );
        let before = self.before.unwrap_or(i64::MAX);
        let status = self.status.as_deref().unwrap_or_default();
        let found = match &self.agent_id {
            None => x.rows(ALL, &[before.into(), status.into(), self.limit.into()]).await?,
            Some(agent) => x.rows(OF_AGENT, &[before.into(), status.into(), self.limit.into(), agent.into()]).await?,
        };
        found.into_iter().map(|mut row| rows::item(&mut row)).collect()
    }
}
