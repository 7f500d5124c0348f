use countersign_protocol::time::Timestamp;

use super::tokens;
use crate::error::StoreError;
use crate::exec::{AccessMode, Exec, Op, Row};
use crate::model::ListEntry;
use crate::ops::list::{ItemPage, PagedList, page};
use crate::ops::rows;

pub type SearchPage = ItemPage<i64>;

/// Messages that contain all the words, or longer words that begin with them; newest first. No words match nothing.
pub struct Search {
    /// The search text as typed.
    pub text: String,
    pub before: Option<i64>,
    pub limit: i64,
}

impl Op for Search {
    type Out = SearchPage;
    const MODE: AccessMode = AccessMode::Scan;

    async fn run<X: Exec>(&self, x: &mut X, now: Timestamp) -> Result<SearchPage, StoreError> {
        let search_terms = tokens::search_terms(&self.text);
        if search_terms.is_empty() {
            return Ok(ItemPage {
                items: Vec::new(),
                next: None,
            });
        }
        let found = Matches((X::DIALECT.search_query)(&search_terms));
        page(x, &found, self.before.as_ref(), self.limit, now).await
    }

    fn damage(found: &SearchPage) -> Vec<StoreError> {
        found.damage()
    }
}

/// A query in the engine's own search syntax.
struct Matches(String);

impl PagedList for Matches {
    type Position = i64;
    /// No match is filtered out, so no limit is needed.
    const MAX_SCANNED_ROWS: usize = usize::MAX;

    async fn next_rows<X: Exec>(
        &self,
        x: &mut X,
        after: Option<&i64>,
        count: i64,
        _now: Timestamp,
    ) -> Result<Vec<Row>, StoreError> {
        let before = after.copied().unwrap_or(i64::MAX);
        x.rows(
            X::DIALECT.search_items,
            &[(&self.0).into(), before.into(), count.into()],
        )
        .await
    }

    fn read(&self, mut row: Row) -> Result<(i64, Option<ListEntry>), StoreError> {
        Ok((row.int(rows::SEQ)?, Some(rows::entry(row, rows::item)?)))
    }
}
