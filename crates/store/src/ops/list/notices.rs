use countersign_protocol::time::Timestamp;

use super::page::{ItemPage, PagedList, page};
use crate::error::StoreError;
use crate::exec::{AccessMode, Exec, Op, Row};
use crate::model::ListEntry;
use crate::ops::rows;

pub type NoticePage = ItemPage<i64>;

/// Notifies, newest first, without those the person has archived.
pub struct Notices {
    pub person: Option<String>,
    pub before: Option<i64>,
    pub limit: i64,
}

impl Op for Notices {
    type Out = NoticePage;
    const MODE: AccessMode = AccessMode::Scan;

    async fn run<X: Exec>(&self, x: &mut X, now: Timestamp) -> Result<NoticePage, StoreError> {
        page(x, self, self.before.as_ref(), self.limit, now).await
    }

    fn damage(found: &NoticePage) -> Vec<StoreError> {
        found.damage()
    }
}

impl PagedList for Notices {
    type Position = i64;
    type Entry = ListEntry;
    const MAX_SCANNED_ROWS: usize = 2_000;

    async fn next_rows<X: Exec>(
        &self,
        x: &mut X,
        after: Option<&i64>,
        count: i64,
        _now: Timestamp,
    ) -> Result<Vec<Row>, StoreError> {
        // A notify is terminal on arrival, so `received_at` is its position. It survives the purge, so a cursor
        // outlives the message it names.
        const SELECT: &str = rows::select_scanning!(
            "",
            "LEFT JOIN shelf s ON s.person = ?3 AND s.seq = m.seq AND s.until IS NULL ",
            "s.seq IS NULL",
            "WHERE m.status = 'delivered' AND m.resolved_at IS NOT NULL AND (m.resolved_at, m.seq) < \
             (COALESCE((SELECT b.received_at FROM message b WHERE b.seq = ?1), 9223372036854775807), ?1) \
             ORDER BY m.resolved_at DESC, m.seq DESC LIMIT ?2"
        );
        let before = after.copied().unwrap_or(i64::MAX);
        let person = self.person.as_deref().unwrap_or_default();
        x.rows(SELECT, &[before.into(), count.into(), person.into()]).await
    }

    fn read(&self, mut row: Row) -> Result<(i64, Option<ListEntry>), StoreError> {
        let seq = row.int(rows::SEQ)?;
        let is_wanted = rows::is_wanted(&row);
        let entry = is_wanted.then(|| rows::entry(row, rows::item_without_delivery));
        Ok((seq, entry.transpose()?))
    }
}
