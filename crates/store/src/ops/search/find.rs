//! Finds messages: candidates by index and columns, then those whose text or resolution matches too.

use countersign_core::search::SearchQuery;
use countersign_protocol::time::Timestamp;

use super::senders::NamedSenders;
use super::statements::{self, Position, Statement};
use crate::error::StoreError;
use crate::exec::{AccessMode, Exec, Op, Row};
use crate::model::{ListEntry, entry_seq};
use crate::ops::agent::names;
use crate::ops::list::items_by_seq;
use crate::ops::rows;

/// The order of what is found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SearchOrder {
    /// Messages of any status, the newest first. `after:` and `before:` are about their arrival.
    Arrived,
    /// Decided messages, the latest decision first. `after:` and `before:` are about the decision.
    Decided,
}

/// One page of the messages that a query finds, and their number.
pub struct Search {
    pub query: SearchQuery,
    pub order: SearchOrder,
    pub before: Option<Position>,
    pub limit: usize,
    pub is_counted: bool,
}

#[derive(Debug, Clone, Default)]
pub struct SearchPage {
    pub items: Vec<ListEntry>,
    /// The next page starts here. A page that is not full may have one too, if it reached its scan limit.
    pub next: Option<Position>,
    pub total: Option<SearchTotal>,
}

/// The number of messages found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SearchTotal {
    pub count: usize,
    /// There are more: counting stops at a limit.
    pub is_more: bool,
}

const MAX_COUNTED: usize = 1_000;
/// Rows that one walk looks at, without their texts.
const MAX_SCANNED_ROWS: usize = 200_000;
/// Messages that one walk reads whole.
const MAX_READ_MESSAGES: usize = 5_000;
/// Rows of the first statement and of all others: most pages need only the first.
const FIRST_CHUNK: usize = 512;
const NEXT_CHUNK: usize = 16_384;
/// Messages read whole at a time.
const READ_CHUNK: usize = 128;

impl Op for Search {
    type Out = SearchPage;
    const MODE: AccessMode = AccessMode::Scan;

    async fn run<X: Exec>(&self, x: &mut X, _now: Timestamp) -> Result<SearchPage, StoreError> {
        let senders = NamedSenders::of(x, &self.query).await?;
        let mut query = self.query.clone();
        if senders.is_some() {
            query.agent = None;
        }
        let walker = Walker {
            query,
            senders,
            order: self.order,
        };
        let from_start = match self.is_counted {
            false => None,
            true => Some(walker.walk(x, None, MAX_COUNTED + 1).await?),
        };
        let total = from_start.as_ref().map(Walk::total);
        let mut walk = match (from_start, self.before) {
            (Some(walk), None) => walk,
            (_, before) => walker.walk(x, before, self.limit.saturating_add(1)).await?,
        };
        let next = if walk.found.len() > self.limit {
            walk.found.truncate(self.limit);
            walk.found.last().copied()
        } else {
            walk.stopped_at
        };
        let mut items = items(x, &walk.found).await?;
        names::fill(x, &mut items).await?;
        Ok(SearchPage { items, next, total })
    }

    fn damage(found: &SearchPage) -> Vec<StoreError> {
        rows::damage(&found.items)
    }
}

/// Positions that match, from one place of the list on.
#[derive(Default)]
struct Walk {
    found: Vec<Position>,
    /// Where a limit ended the walk.
    stopped_at: Option<Position>,
}

impl Walk {
    fn total(&self) -> SearchTotal {
        SearchTotal {
            count: self.found.len().min(MAX_COUNTED),
            is_more: self.found.len() > MAX_COUNTED || self.stopped_at.is_some(),
        }
    }
}

/// A search for which it is known which agents `from:` means.
struct Walker {
    query: SearchQuery,
    senders: Option<NamedSenders>,
    order: SearchOrder,
}

impl Walker {
    async fn walk<X: Exec>(&self, x: &mut X, before: Option<Position>, wanted: usize) -> Result<Walk, StoreError> {
        let mut walk = Walk::default();
        // An empty search finds nothing; an empty search of the decided messages leaves nothing out.
        if self.query.is_empty() && self.senders.is_none() && self.order == SearchOrder::Arrived {
            return Ok(walk);
        }
        let statement = Statement::of(&self.query, self.order, X::DIALECT);
        let mut at = before;
        let mut scanned = 0;
        let mut read = 0;
        let mut chunk = FIRST_CHUNK;
        while walk.found.len() < wanted {
            if scanned >= MAX_SCANNED_ROWS || read >= MAX_READ_MESSAGES {
                walk.stopped_at = at;
                break;
            }
            let rows = statement.rows(x, at, chunk).await?;
            let is_last = rows.len() < chunk;
            scanned += rows.len();
            let candidates = self.candidates(rows, &mut at)?;
            let checked = self.matching(x, candidates, wanted - walk.found.len(), MAX_READ_MESSAGES - read);
            let checked = checked.await?;
            read += checked.read;
            walk.found.extend(checked.found);
            if checked.stopped_at.is_some() {
                walk.stopped_at = checked.stopped_at;
                break;
            }
            if is_last {
                break;
            }
            chunk = NEXT_CHUNK;
        }
        walk.found.truncate(wanted);
        Ok(walk)
    }

    /// The positions of the wanted rows; `at` becomes the position of the last row.
    fn candidates(&self, rows: Vec<Row>, at: &mut Option<Position>) -> Result<Vec<Position>, StoreError> {
        let mut found = Vec::new();
        for mut row in rows {
            let position = (row.instant(statements::AT)?, row.int(statements::SEQ)?);
            let is_from = match &self.senders {
                Some(senders) => row.peek(statements::AGENT).is_some_and(|id| senders.includes(id)),
                None => true,
            };
            if is_from && row.int(statements::WANTED)? == 1 {
                found.push(position);
            }
            *at = Some(position);
        }
        Ok(found)
    }

    /// The candidates that match as a whole: up to `wanted`, reading up to `max_read` messages.
    async fn matching<X: Exec>(
        &self,
        x: &mut X,
        candidates: Vec<Position>,
        wanted: usize,
        max_read: usize,
    ) -> Result<Checked, StoreError> {
        if !self.query.needs_message() {
            let found = candidates;
            return Ok(Checked {
                found,
                ..Checked::default()
            });
        }
        let mut checked = Checked::default();
        for chunk in candidates.chunks(READ_CHUNK) {
            if checked.found.len() >= wanted {
                break;
            }
            if checked.read >= max_read {
                checked.stopped_at = checked.last;
                break;
            }
            let entries = items(x, chunk).await?;
            let matching = |entry: &ListEntry| entry.as_ref().is_ok_and(|item| self.query.matches(&item.message));
            let seqs: Vec<i64> = entries.iter().filter(|entry| matching(entry)).map(entry_seq).collect();
            checked.found.extend(chunk.iter().filter(|(_, seq)| seqs.contains(seq)));
            checked.read += chunk.len();
            checked.last = chunk.last().copied();
        }
        Ok(checked)
    }
}

#[derive(Default)]
struct Checked {
    found: Vec<Position>,
    read: usize,
    last: Option<Position>,
    stopped_at: Option<Position>,
}

/// The messages at these positions, in their order. A message that was purged meanwhile is left out.
async fn items<X: Exec>(x: &mut X, positions: &[Position]) -> Result<Vec<ListEntry>, StoreError> {
    if positions.is_empty() {
        return Ok(Vec::new());
    }
    let mut entries = items_by_seq(x, positions.iter().map(|(_, seq)| *seq)).await?;
    Ok(positions.iter().filter_map(|(_, seq)| entries.remove(seq)).collect())
}
