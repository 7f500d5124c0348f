//! Open asks and tasks as one person sees them, in either direction.

use countersign_protocol::time::Timestamp;

use super::filter::ListFilter;
use super::page::PagedList;
use crate::error::StoreError;
use crate::exec::{Exec, Row};
use crate::model::{Cursor, ListEntry};
use crate::ops::rows;

/// Open messages next to the cursor (?1, ?2), at most ?3, as the person ?4 sees them at ?5; of the agent ?6, if not
/// empty.
macro_rules! select_waiting {
    ($beside:literal) => {
        $crate::ops::rows::select_scanning!(
            "",
            "LEFT JOIN shelf s ON s.person = ?4 AND s.seq = m.seq AND s.until > ?5 ",
            "s.seq IS NULL AND (?6 = '' OR m.agent_id = ?6)",
            "WHERE m.status = 'open' ",
            $beside
        )
    };
}

#[derive(Clone, Copy)]
pub enum ScanDirection {
    /// Urgent first, then the longest waiting.
    Forwards,
    Backwards,
}

pub struct OpenMessages<'a> {
    pub viewer: Option<&'a str>,
    pub filter: &'a ListFilter,
    pub direction: ScanDirection,
}

impl PagedList for OpenMessages<'_> {
    type Position = Cursor;
    const MAX_SCANNED_ROWS: usize = 5_000;

    async fn next_rows<X: Exec>(
        &self,
        x: &mut X,
        after: Option<&Cursor>,
        count: i64,
        now: Timestamp,
    ) -> Result<Vec<Row>, StoreError> {
        const NEWER_ROWS: &str = select_waiting!("AND (m.rank, m.seq) > (?1, ?2) ORDER BY m.rank, m.seq LIMIT ?3");
        const OLDER_ROWS: &str =
            select_waiting!("AND (m.rank, m.seq) < (?1, ?2) ORDER BY m.rank DESC, m.seq DESC LIMIT ?3");
        let (select, beginning) = match self.direction {
            ScanDirection::Forwards => (NEWER_ROWS, (-1, 0)),
            ScanDirection::Backwards => (OLDER_ROWS, (i64::MAX, i64::MAX)),
        };
        let (rank, seq) = after.map_or(beginning, |cursor| (cursor.rank, cursor.seq));
        // No person has an empty name.
        let viewer = self.viewer.unwrap_or_default();
        let params = [
            rank.into(),
            seq.into(),
            count.into(),
            viewer.into(),
            now.into(),
            self.filter.agent().into(),
        ];
        x.rows(select, &params).await
    }

    fn read(&self, mut row: Row) -> Result<(Cursor, Option<ListEntry>), StoreError> {
        let place = Cursor {
            // SQLite sorts a damaged rank, which is not a number, behind all others.
            rank: row.int(rows::RANK).unwrap_or(i64::MAX),
            seq: row.int(rows::SEQ)?,
        };
        if !rows::is_wanted(&row) {
            return Ok((place, None));
        }
        let entry = rows::entry(row, rows::item_without_delivery)?;
        Ok((place, Some(entry).filter(|entry| self.filter.matches(entry))))
    }
}
