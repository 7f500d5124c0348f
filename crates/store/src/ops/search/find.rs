use countersign_protocol::time::Timestamp;

use super::words;
use crate::error::StoreError;
use crate::exec::{Exec, Mode, Op, Row};
use crate::model::Item;
use crate::ops::list::{List, Page, page};
use crate::ops::rows;

pub type SearchPage = Page<i64>;

/// Messages in which all the words occur, or longer ones that begin with them; newest first. Without a word, none.
pub struct Search {
    /// Whatever somebody typed.
    pub text: String,
    pub before: Option<i64>,
    pub limit: i64,
}

impl Op for Search {
    type Out = SearchPage;
    const MODE: Mode = Mode::Scan;

    async fn run<X: Exec>(&self, x: &mut X, now: Timestamp) -> Result<SearchPage, StoreError> {
        let asked = words::asked(&self.text);
        if asked.is_empty() {
            return Ok(Page {
                items: Vec::new(),
                next: None,
            });
        }
        let found = Matches((X::DIALECT.search_query)(&asked));
        page(x, &found, self.before.as_ref(), self.limit, now).await
    }
}

/// In the words of the engine's own search.
struct Matches(String);

impl List for Matches {
    type Place = i64;
    /// Nothing that was found is left out.
    const MOST_LOOKED_AT: usize = usize::MAX;

    async fn stretch<X: Exec>(
        &self,
        x: &mut X,
        behind: Option<&i64>,
        count: i64,
        _now: Timestamp,
    ) -> Result<Vec<Row>, StoreError> {
        let before = behind.copied().unwrap_or(i64::MAX);
        x.rows(
            X::DIALECT.found_by_search,
            &[(&self.0).into(), before.into(), count.into()],
        )
        .await
    }

    fn read(&self, mut row: Row) -> Result<(i64, Option<Item>), StoreError> {
        let item = rows::item(&mut row)?;
        Ok((item.seq, Some(item)))
    }
}
