use countersign_protocol::time::Timestamp;

use super::filter::Filter;
use super::page::{List, Page, page};
use super::waiting::{Waiting, select_waiting};
use crate::error::StoreError;
use crate::exec::{Exec, Mode, Op, Row};
use crate::model::{Cursor, Item};

pub type InboxPage = Page<Cursor>;

/// Open asks and tasks, urgent first, then the longest waiting, without what the viewer has set aside.
pub struct Inbox {
    pub viewer: Option<String>,
    pub filter: Filter,
    pub after: Option<Cursor>,
    pub limit: i64,
}

impl Op for Inbox {
    type Out = InboxPage;
    const MODE: Mode = Mode::Scan;

    async fn run<X: Exec>(&self, x: &mut X, now: Timestamp) -> Result<InboxPage, StoreError> {
        let waiting = Waiting { viewer: self.viewer.as_deref(), filter: &self.filter };
        page(x, &Forwards(waiting), self.after.as_ref(), self.limit, now).await
    }
}

struct Forwards<'a>(Waiting<'a>);

impl List for Forwards<'_> {
    type Place = Cursor;
    const MOST_LOOKED_AT: usize = Waiting::MOST_LOOKED_AT;

    async fn stretch<X: Exec>(
        &self,
        x: &mut X,
        behind: Option<&Cursor>,
        count: i64,
        now: Timestamp,
    ) -> Result<Vec<Row>, StoreError> {
        const SELECT: &str = select_waiting!("AND (m.rank, m.seq) > (?1, ?2) ORDER BY m.rank, m.seq LIMIT ?3");
        let place = behind.map_or((-1, 0), |cursor| (cursor.rank, cursor.seq));
        self.0.rows(x, SELECT, place, count, now).await
    }

    fn read(&self, row: Row) -> Result<(Cursor, Option<Item>), StoreError> {
        self.0.read(row)
    }
}
