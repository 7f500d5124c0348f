//! Open asks and tasks as one person sees them. The smart order is three sections read one after the other, each by its
//! own index and with its own seek.

use countersign_core::Actor;
use countersign_protocol::time::Timestamp;

use super::filter::ListFilter;
use super::page::PagedList;
use crate::error::StoreError;
use crate::exec::{Exec, Row};
use crate::model::{InboxOrder, InboxSection, InboxWalk, ListEntry};
use crate::ops::rows;

/// A position: section, key and seq, as in `Cursor`.
pub type Place = (InboxSection, i64, i64);

/// The section, 0 to 2, and the key, after the columns of a message.
const SECTION: usize = rows::MESSAGE;
const KEY: usize = rows::MESSAGE + 1;

/// Messages beside the position (?1, ?2), at most ?3, as the person ?4 sees them at ?5; of the agent ?6, if not empty;
/// ?7 ends the first section.
macro_rules! select_soon {
    ($beside:literal) => {
        $crate::ops::rows::select_scanning!(
            ", CAST(0 AS BIGINT), m.expires_at",
            "LEFT JOIN shelf s ON s.person = ?4 AND s.seq = m.seq AND s.until > ?5 ",
            "s.seq IS NULL AND (?6 = '' OR m.agent_id = ?6)",
            "WHERE m.status = 'open' AND m.expires_at IS NOT NULL AND m.expires_at < ?7 ",
            $beside
        )
    };
}

macro_rules! select_rest {
    ($beside:literal) => {
        $crate::ops::rows::select_scanning!(
            ", CAST(2 AS BIGINT), m.rank",
            "LEFT JOIN shelf s ON s.person = ?4 AND s.seq = m.seq AND s.until > ?5 ",
            "s.seq IS NULL AND (?6 = '' OR m.agent_id = ?6) AND COALESCE(m.expires_at, 9223372036854775807) >= ?7",
            "WHERE m.status = 'open' ",
            $beside
        )
    };
}

/// The message ?1 whose agent waits, with its place ?2 among those.
const WAITING: &str = rows::select_scanning!(
    ", CAST(1 AS BIGINT), CAST(?2 AS BIGINT)",
    "LEFT JOIN shelf s ON s.person = ?3 AND s.seq = m.seq AND s.until > ?4 ",
    "s.seq IS NULL AND (?5 = '' OR m.agent_id = ?5) AND COALESCE(m.expires_at, 9223372036854775807) >= ?6",
    "WHERE m.seq = ?1 AND m.status = 'open'"
);

/// Messages in an order without sections: those of the seqs `$seqs`, which are beside ?1 and at most ?2.
macro_rules! select_ordered {
    ($seqs:expr, $order:literal) => {
        $crate::ops::rows::select_scanning!(
            ", CAST(2 AS BIGINT), CAST(0 AS BIGINT)",
            "LEFT JOIN shelf s ON s.person = ?3 AND s.seq = m.seq AND s.until > ?4 ",
            "s.seq IS NULL AND (?5 = '' OR m.agent_id = ?5)",
            "WHERE m.seq IN (",
            $seqs,
            ") ORDER BY ",
            $order
        )
    };
}

/// The seqs of one rank beside ?1. The index of open messages has the ranks one after the other.
macro_rules! of_rank {
    ($rank:literal, $beside:literal) => {
        concat!(
            "SELECT * FROM (SELECT seq FROM message WHERE status = 'open' AND rank = ",
            $rank,
            " AND seq ",
            $beside,
            " LIMIT ?2) AS rank_",
            $rank
        )
    };
}

/// The seqs of all ranks beside ?1: a few short index reads merged together.
macro_rules! of_all_ranks {
    ($beside:literal, $order:literal) => {
        concat!(
            "SELECT seq FROM (",
            of_rank!(0, $beside),
            " UNION ALL ",
            of_rank!(1, $beside),
            " UNION ALL ",
            of_rank!(2, $beside),
            " UNION ALL ",
            of_rank!(3, $beside),
            ") AS merged ORDER BY ",
            $order,
            " LIMIT ?2"
        )
    };
}

const OLDEST: &str = select_ordered!(of_all_ranks!("> ?1 ORDER BY seq", "seq"), "m.seq");
const NEWEST: &str = select_ordered!(of_all_ranks!("< ?1 ORDER BY seq DESC", "seq DESC"), "m.seq DESC");
/// The inner limit keeps the sort bounded, and the planner away from the index that has every message of an agent.
const BY_AGENT: &str = select_ordered!(
    "SELECT seq FROM (SELECT seq, agent_id FROM message WHERE status = 'open' ORDER BY rank, seq LIMIT 20000) AS open \
     WHERE (agent_id, seq) > (COALESCE((SELECT b.agent_id FROM message b WHERE b.seq = ?1), ''), ?1) \
     ORDER BY agent_id, seq LIMIT ?2",
    "m.agent_id, m.seq"
);
const BY_AGENT_BACK: &str = select_ordered!(
    "SELECT seq FROM (SELECT seq, agent_id FROM message WHERE status = 'open' ORDER BY rank, seq LIMIT 20000) AS open \
     WHERE (agent_id, seq) < (COALESCE((SELECT b.agent_id FROM message b WHERE b.seq = ?1), ''), ?1) \
     ORDER BY agent_id DESC, seq DESC LIMIT ?2",
    "m.agent_id DESC, m.seq DESC"
);

#[derive(Clone, Copy)]
pub enum ScanDirection {
    Forwards,
    /// From a position; without one, from the end of the smart order.
    Backwards,
}

pub struct OpenMessages<'a> {
    pub viewer: Option<&'a str>,
    pub filter: &'a ListFilter,
    pub order: InboxOrder,
    pub direction: ScanDirection,
    pub walk: InboxWalk,
}

impl OpenMessages<'_> {
    /// No person has an empty name.
    fn viewer(&self) -> &str {
        self.viewer.unwrap_or_default()
    }

    async fn in_sections<X: Exec>(
        &self,
        x: &mut X,
        after: Option<&Place>,
        count: i64,
        now: Timestamp,
    ) -> Result<Vec<Row>, StoreError> {
        use InboxSection::{Rest, Soon, Waiting};
        let sections = match self.direction {
            ScanDirection::Forwards => [Soon, Waiting, Rest],
            ScanDirection::Backwards => [Rest, Waiting, Soon],
        };
        let first = after.and_then(|(at, ..)| sections.iter().position(|section| section == at));
        let mut found = Vec::new();
        for section in sections.into_iter().skip(first.unwrap_or(0)) {
            let left = count.saturating_sub(i64::try_from(found.len()).unwrap_or(i64::MAX));
            if left == 0 {
                break;
            }
            let after = after.filter(|(at, ..)| *at == section);
            found.extend(match section {
                Waiting => self.waiting(x, after, left, now).await?,
                Soon | Rest => self.in_section(x, section, after, left, now).await?,
            });
        }
        Ok(found)
    }

    async fn in_section<X: Exec>(
        &self,
        x: &mut X,
        section: InboxSection,
        after: Option<&Place>,
        count: i64,
        now: Timestamp,
    ) -> Result<Vec<Row>, StoreError> {
        const SOON: &str = select_soon!("AND (m.expires_at, m.seq) > (?1, ?2) ORDER BY m.expires_at, m.seq LIMIT ?3");
        const SOON_BACK: &str =
            select_soon!("AND (m.expires_at, m.seq) < (?1, ?2) ORDER BY m.expires_at DESC, m.seq DESC LIMIT ?3");
        const REST: &str = select_rest!("AND (m.rank, m.seq) > (?1, ?2) ORDER BY m.rank, m.seq LIMIT ?3");
        const REST_BACK: &str =
            select_rest!("AND (m.rank, m.seq) < (?1, ?2) ORDER BY m.rank DESC, m.seq DESC LIMIT ?3");
        let is_soon = section == InboxSection::Soon;
        let (select, beginning) = match self.direction {
            ScanDirection::Forwards => (if is_soon { SOON } else { REST }, (i64::MIN, 0)),
            ScanDirection::Backwards => (if is_soon { SOON_BACK } else { REST_BACK }, (i64::MAX, i64::MAX)),
        };
        let (key, seq) = after.map_or(beginning, |(_, key, seq)| (*key, *seq));
        let params = [
            key.into(),
            seq.into(),
            count.into(),
            self.viewer().into(),
            now.into(),
            self.filter.agent().into(),
            self.walk.soon_before.into(),
        ];
        x.rows(select, &params).await
    }

    async fn waiting<X: Exec>(
        &self,
        x: &mut X,
        after: Option<&Place>,
        count: i64,
        now: Timestamp,
    ) -> Result<Vec<Row>, StoreError> {
        let mut places: Vec<(i64, i64)> = (0..).zip(self.walk.waiting.iter().copied()).collect();
        match self.direction {
            ScanDirection::Forwards => places.retain(|(at, _)| after.is_none_or(|(_, key, _)| at > key)),
            ScanDirection::Backwards => {
                places.retain(|(at, _)| after.is_none_or(|(_, key, _)| at < key));
                places.reverse();
            }
        }
        let mut found = Vec::new();
        for (at, seq) in places.into_iter().take(usize::try_from(count).unwrap_or(usize::MAX)) {
            let params = [
                seq.into(),
                at.into(),
                self.viewer().into(),
                now.into(),
                self.filter.agent().into(),
                self.walk.soon_before.into(),
            ];
            found.extend(x.row(WAITING, &params).await?);
        }
        Ok(found)
    }

    async fn in_order<X: Exec>(
        &self,
        x: &mut X,
        select: &'static str,
        after: i64,
        count: i64,
        now: Timestamp,
    ) -> Result<Vec<Row>, StoreError> {
        let params = [
            after.into(),
            count.into(),
            self.viewer().into(),
            now.into(),
            self.filter.agent().into(),
        ];
        x.rows(select, &params).await
    }
}

impl PagedList for OpenMessages<'_> {
    type Position = Place;
    type Entry = ListEntry;
    const MAX_SCANNED_ROWS: usize = 5_000;

    async fn next_rows<X: Exec>(
        &self,
        x: &mut X,
        after: Option<&Place>,
        count: i64,
        now: Timestamp,
    ) -> Result<Vec<Row>, StoreError> {
        let seq = after.map(|(_, _, seq)| *seq);
        let (first, last) = (seq.unwrap_or(0), seq.unwrap_or(i64::MAX));
        match (self.order, self.direction) {
            (InboxOrder::Smart, _) => self.in_sections(x, after, count, now).await,
            (InboxOrder::Oldest, ScanDirection::Forwards) | (InboxOrder::Newest, ScanDirection::Backwards) => {
                self.in_order(x, OLDEST, first, count, now).await
            }
            (InboxOrder::Newest, ScanDirection::Forwards) | (InboxOrder::Oldest, ScanDirection::Backwards) => {
                self.in_order(x, NEWEST, last, count, now).await
            }
            (InboxOrder::Agent, ScanDirection::Forwards) => self.in_order(x, BY_AGENT, first, count, now).await,
            (InboxOrder::Agent, ScanDirection::Backwards) => self.in_order(x, BY_AGENT_BACK, first, count, now).await,
        }
    }

    fn read(&self, mut row: Row) -> Result<(Place, Option<ListEntry>), StoreError> {
        let place = place(&mut row)?;
        let (section, _, seq) = place;
        let is_shown_before =
            self.order == InboxOrder::Smart && section == InboxSection::Rest && self.walk.waiting.contains(&seq);
        if !rows::is_wanted(&row) || is_shown_before {
            return Ok((place, None));
        }
        let entry = rows::entry(row, rows::item_without_delivery)?;
        Ok((place, Some(entry).filter(|entry| self.filter.matches(entry))))
    }
}

fn place(row: &mut Row) -> Result<Place, StoreError> {
    let section = match row.int(SECTION)? {
        0 => InboxSection::Soon,
        1 => InboxSection::Waiting,
        _ => InboxSection::Rest,
    };
    // SQLite sorts a damaged rank, which is not a number, behind all others.
    Ok((section, row.int(KEY).unwrap_or(i64::MAX), row.int(rows::SEQ)?))
}

/// The same messages, for counting: a text that names the actor as a resolver is not read any further.
pub struct Countable<'a> {
    pub open: OpenMessages<'a>,
    pub resolver: &'a Actor,
}

impl PagedList for Countable<'_> {
    type Position = Place;
    type Entry = ();
    const MAX_SCANNED_ROWS: usize = OpenMessages::MAX_SCANNED_ROWS;

    async fn next_rows<X: Exec>(
        &self,
        x: &mut X,
        after: Option<&Place>,
        count: i64,
        now: Timestamp,
    ) -> Result<Vec<Row>, StoreError> {
        self.open.next_rows(x, after, count, now).await
    }

    fn read(&self, mut row: Row) -> Result<(Place, Option<()>), StoreError> {
        if rows::is_wanted(&row) && rows::names_resolver(&row, self.resolver) {
            return Ok((place(&mut row)?, Some(())));
        }
        let (place, entry) = self.open.read(row)?;
        Ok((place, entry.map(|_| ())))
    }
}
