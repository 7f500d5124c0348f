//! Reads one page of a list, skipping rows that the filter leaves out.

use std::future::Future;

use countersign_protocol::time::Timestamp;

use crate::error::StoreError;
use crate::exec::{Exec, Row};
use crate::model::ListEntry;
use crate::ops::agent::names;
use crate::ops::rows;

#[derive(Debug, Clone)]
pub struct ItemPage<P, E = ListEntry> {
    pub items: Vec<E>,
    /// The next page starts here. A page that is not full may have one too, if it reached its scan limit.
    pub next: Option<P>,
}

impl<P> ItemPage<P> {
    /// For `Op::damage`.
    pub fn damage(&self) -> Vec<StoreError> {
        rows::damage(&self.items)
    }
}

/// The number of rows per further read, after those for the page itself.
const CHUNK_ROWS: usize = 256;

/// A list with its own sort order.
pub trait PagedList: Sync {
    /// The position of a row in that order.
    type Position: Clone + Send;
    /// The part of a row that the page keeps.
    type Entry: Send;
    /// The maximum number of rows scanned for one page; a rare filter continues on the next page.
    const MAX_SCANNED_ROWS: usize;

    /// The next rows after a position, at most `count`.
    fn next_rows<X: Exec>(
        &self,
        x: &mut X,
        after: Option<&Self::Position>,
        count: i64,
        now: Timestamp,
    ) -> impl Future<Output = Result<Vec<Row>, StoreError>> + Send;

    /// The position of a row, and its entry unless the row is left out.
    fn read(&self, row: Row) -> Result<(Self::Position, Option<Self::Entry>), StoreError>;
}

/// One page, with the names of its agents.
pub async fn page<X: Exec, L: PagedList<Entry = ListEntry>>(
    x: &mut X,
    list: &L,
    after: Option<&L::Position>,
    limit: i64,
    now: Timestamp,
) -> Result<ItemPage<L::Position>, StoreError> {
    let mut page = scan(x, list, after, limit, now).await?;
    names::fill(x, &mut page.items).await?;
    Ok(page)
}

pub async fn scan<X: Exec, L: PagedList>(
    x: &mut X,
    list: &L,
    after: Option<&L::Position>,
    limit: i64,
    now: Timestamp,
) -> Result<ItemPage<L::Position, L::Entry>, StoreError> {
    let limit = usize::try_from(limit).unwrap_or(0);
    let mut items = Vec::new();
    let mut scanned_to = after.cloned();
    let mut shown = after.cloned();
    // One more row than shown tells whether there is a next page.
    let mut wanted = limit.saturating_add(1);
    let mut left = L::MAX_SCANNED_ROWS;
    while left > 0 {
        let count = wanted.min(left);
        let rows = list
            .next_rows(x, scanned_to.as_ref(), i64::try_from(count).unwrap_or(i64::MAX), now)
            .await?;
        let is_last = rows.len() < count;
        for row in rows {
            let (position, item) = list.read(row)?;
            if let Some(item) = item {
                if items.len() >= limit {
                    return Ok(ItemPage { items, next: shown });
                }
                items.push(item);
                shown = Some(position.clone());
            }
            scanned_to = Some(position);
        }
        if is_last {
            return Ok(ItemPage { items, next: None });
        }
        left -= count;
        wanted = CHUNK_ROWS;
    }
    Ok(ItemPage {
        items,
        next: scanned_to,
    })
}
