//! One page of a list, however many rows have to be left out on the way to it.

use std::future::Future;

use countersign_protocol::time::Timestamp;

use crate::error::StoreError;
use crate::exec::{Exec, Row};
use crate::model::Item;

#[derive(Debug, Clone)]
pub struct Page<P> {
    pub items: Vec<Item>,
    /// Where to go on. A page that is not full may have one too: it looked at as much as one page may.
    pub next: Option<P>,
}

/// How many rows are read at a time, once those for the page itself have been.
const STRETCH: usize = 256;

/// A list in an order of its own.
pub trait List: Sync {
    /// Where a row stands in that order.
    type Place: Clone + Send;
    /// How many rows one page may look at: whoever filters for what is rare goes on from there.
    const MOST_LOOKED_AT: usize;

    /// The next rows behind a place, at most `count`.
    fn stretch<X: Exec>(
        &self,
        x: &mut X,
        behind: Option<&Self::Place>,
        count: i64,
        now: Timestamp,
    ) -> impl Future<Output = Result<Vec<Row>, StoreError>> + Send;

    /// Where a row stands, and the item unless it is left out.
    fn read(&self, row: Row) -> Result<(Self::Place, Option<Item>), StoreError>;
}

pub async fn page<X: Exec, L: List>(
    x: &mut X,
    list: &L,
    behind: Option<&L::Place>,
    limit: i64,
    now: Timestamp,
) -> Result<Page<L::Place>, StoreError> {
    let limit = usize::try_from(limit).unwrap_or(0);
    let mut items = Vec::new();
    let mut looked_at = behind.cloned();
    let mut shown = behind.cloned();
    // One more than is shown tells whether there is a next page.
    let mut wanted = limit.saturating_add(1);
    let mut left = L::MOST_LOOKED_AT;
    while left > 0 {
        let count = wanted.min(left);
        let rows = list
            .stretch(x, looked_at.as_ref(), i64::try_from(count).unwrap_or(i64::MAX), now)
            .await?;
        let is_last = rows.len() < count;
        for row in rows {
            let (place, item) = list.read(row)?;
            if let Some(item) = item {
                if items.len() >= limit {
                    return Ok(Page { items, next: shown });
                }
                items.push(item);
                shown = Some(place.clone());
            }
            looked_at = Some(place);
        }
        if is_last {
            return Ok(Page { items, next: None });
        }
        left -= count;
        wanted = STRETCH;
    }
    Ok(Page { items, next: looked_at })
}
