use countersign_protocol::time::Timestamp;

use super::filter::Filter;
use super::page::{List, Page, page};
use crate::error::StoreError;
use crate::exec::{Exec, Mode, Op, Row};
use crate::model::{Cursor, Item};
use crate::ops::rows;

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
        page(x, self, self.after.as_ref(), self.limit, now).await
    }
}

impl List for Inbox {
    type Place = Cursor;
    const MOST_LOOKED_AT: usize = 5_000;

    async fn stretch<X: Exec>(
        &self,
        x: &mut X,
        behind: Option<&Cursor>,
        count: i64,
        now: Timestamp,
    ) -> Result<Vec<Row>, StoreError> {
        const SELECT: &str = rows::select_looking!(
            "m.rank, m.seq",
            "LEFT JOIN shelf s ON s.person = ?4 AND s.seq = m.seq AND s.until > ?5 ",
            "AND s.seq IS NULL AND (?6 = '' OR m.agent_id = ?6) ",
            "WHERE m.status = 'open' AND (m.rank, m.seq) > (?1, ?2) ORDER BY m.rank, m.seq LIMIT ?3"
        );
        let (rank, seq) = behind.map_or((-1, 0), |cursor| (cursor.rank, cursor.seq));
        // Nobody's name is empty.
        let viewer = self.viewer.as_deref().unwrap_or_default();
        let params = [rank.into(), seq.into(), count.into(), viewer.into(), now.into(), self.filter.agent().into()];
        x.rows(SELECT, &params).await
    }

    fn read(&self, mut row: Row) -> Result<(Cursor, Option<Item>), StoreError> {
        let place = Cursor { rank: row.int(rows::MESSAGE)?, seq: row.int(rows::MESSAGE + 1)? };
        if !rows::has_text(&row) {
            return Ok((place, None));
        }
        let item = rows::waiting_item(&mut row, place.seq)?;
        let item = Some(item).filter(|item| self.filter.fits(&item.message.content));
        Ok((place, item))
    }
}
