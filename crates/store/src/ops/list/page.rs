//! One page of a list, however many rows have to be left out on the way to it.

use std::future::Future;

use countersign_protocol::time::Timestamp;

use crate::error::StoreError;
use crate::exec::{Exec, Row};
use crate::model::PersonView;

#[derive(Debug, Clone)]
pub struct ItemPage<P> {
    pub items: Vec<PersonView>,
    /// Where to go on. A page that is not full may have one too: it looked at as much as one page may.
    pub next: Option<P>,
}

/// How many rows are read at a time, once those for the page itself have been.
const CHUNK_ROWS: usize = 256;

/// A list in an order of its own.
pub trait PagedList: Sync {
    /// Where a row stands in that order.
    type Position: Clone + Send;
    /// How many rows one page may look at: whoever filters for what is rare goes on from there.
    const MAX_SCANNED_ROWS: usize;

    /// The next rows behind a place, at most `count`.
    fn next_rows<X: Exec>(
        &self,
        x: &mut X,
        after: Option<&Self::Position>,
        count: i64,
        now: Timestamp,
    ) -> impl Future<Output = Result<Vec<Row>, StoreError>> + Send;

    /// Where a row stands, and the item unless it is left out.
    fn read(&self, row: Row) -> Result<(Self::Position, Option<PersonView>), StoreError>;
}

pub async fn page<X: Exec, L: PagedList>(
    x: &mut X,
    list: &L,
    after: Option<&L::Position>,
    limit: i64,
    now: Timestamp,
) -> Result<ItemPage<L::Position>, StoreError> {
    let limit = usize::try_from(limit).unwrap_or(0);
    let mut items = Vec::new();
    let mut scanned_to = after.cloned();
    let mut shown = after.cloned();
    // One more than is shown tells whether there is a next page.
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
