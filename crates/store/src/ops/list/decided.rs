use countersign_core::message::Status;
use countersign_protocol::time::Timestamp;

use super::filter::ListFilter;
use super::page::{ItemPage, PagedList, page};
use super::terminal_messages::latest_decided;
use crate::error::StoreError;
use crate::exec::{AccessMode, Exec, Op, Row};
use crate::model::ListEntry;
use crate::ops::rows;

pub type DecidedPage = ItemPage<(Timestamp, i64)>;

/// Resolved asks and tasks, the latest decision first; of one status or of all.
pub struct Decided {
    pub filter: ListFilter,
    pub status: Option<Status>,
    pub before: Option<(Timestamp, i64)>,
    pub limit: i64,
}

impl Op for Decided {
    type Out = DecidedPage;
    const MODE: AccessMode = AccessMode::Scan;

    async fn run<X: Exec>(&self, x: &mut X, now: Timestamp) -> Result<DecidedPage, StoreError> {
        match self.status {
            None | Some(Status::Resolved(_)) => page(x, self, self.before.as_ref(), self.limit, now).await,
            // Messages with these statuses have no decision.
            Some(Status::Open | Status::Delivered) => Ok(ItemPage {
                items: Vec::new(),
                next: None,
            }),
        }
    }

    fn damage(found: &DecidedPage) -> Vec<StoreError> {
        found.damage()
    }
}

impl PagedList for Decided {
    type Position = (Timestamp, i64);
    type Entry = ListEntry;
    const MAX_SCANNED_ROWS: usize = 5_000;

    async fn next_rows<X: Exec>(
        &self,
        x: &mut X,
        after: Option<&Self::Position>,
        count: i64,
        _now: Timestamp,
    ) -> Result<Vec<Row>, StoreError> {
        const OF_ANY: &str = rows::select_items!(
            scanning "?4 = '' OR m.agent_id = ?4",
            "WHERE m.seq IN (", latest_decided!(), ") ORDER BY m.resolved_at DESC, m.seq DESC"
        );
        const OF_STATUS: &str = rows::select_items!(
            scanning "?4 = '' OR m.agent_id = ?4",
            "WHERE m.status = ?5 AND m.resolved_at IS NOT NULL AND (m.resolved_at, m.seq) < (?1, ?2) \
             ORDER BY m.resolved_at DESC, m.seq DESC LIMIT ?3"
        );
        let (resolved_at, seq) = after.copied().unwrap_or((Timestamp::from_millis(i64::MAX), i64::MAX));
        let agent = self.filter.agent();
        let resolved_at = resolved_at.into();
        let seq = seq.into();
        let count = count.into();
        let agent = agent.into();
        match self.status {
            None => x.rows(OF_ANY, &[resolved_at, seq, count, agent]).await,
            Some(status) => {
                x.rows(OF_STATUS, &[resolved_at, seq, count, agent, status.as_str().into()])
                    .await
            }
        }
    }

    fn read(&self, mut row: Row) -> Result<(Self::Position, Option<ListEntry>), StoreError> {
        let place = (row.instant(rows::RESOLVED_AT)?, row.int(rows::SEQ)?);
        if !rows::is_wanted(&row) {
            return Ok((place, None));
        }
        let entry = rows::entry(row, rows::item)?;
        Ok((place, Some(entry).filter(|entry| self.filter.matches(entry))))
    }
}
