use countersign_protocol::time::Timestamp;

use super::filter::Filter;
use super::inbox::InboxPage;
use super::page::{List, page};
use super::waiting::{Waiting, select_waiting};
use crate::error::StoreError;
use crate::exec::{Exec, Mode, Op, Row};
use crate::model::{Cursor, Item};

/// The inbox read backwards: what stands before a place in it, the nearest first; without a place, from its end.
pub struct InboxBefore {
    pub viewer: Option<String>,
    pub filter: Filter,
    pub before: Option<Cursor>,
    pub limit: i64,
}

impl Op for InboxBefore {
    type Out = InboxPage;
    const MODE: Mode = Mode::Scan;

    async fn run<X: Exec>(&self, x: &mut X, now: Timestamp) -> Result<InboxPage, StoreError> {
        let waiting = Waiting { viewer: self.viewer.as_deref(), filter: &self.filter };
        page(x, &Backwards(waiting), self.before.as_ref(), self.limit, now).await
    }
}

struct Backwards<'a>(Waiting<'a>);

impl List for Backwards<'_> {
    type Place = Cursor;
    const MOST_LOOKED_AT: usize = Waiting::MOST_LOOKED_AT;

    async fn stretch<X: Exec>(
        &self,
        x: &mut X,
        behind: Option<&Cursor>,
        count: i64,
        now: Timestamp,
    ) -> Result<Vec<Row>, StoreError> {
        const SELECT: &str =
            select_waiting!("AND (m.rank, m.seq) < (?1, ?2) ORDER BY m.rank DESC, m.seq DESC LIMIT ?3");
        let place = behind.map_or((i64::MAX, i64::MAX), |cursor| (cursor.rank, cursor.seq));
        self.0.rows(x, SELECT, place, count, now).await
    }

    fn read(&self, row: Row) -> Result<(Cursor, Option<Item>), StoreError> {
        self.0.read(row)
    }
}
