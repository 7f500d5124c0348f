use countersign_core::Actor;
use countersign_core::message::inbox_rank;
use countersign_protocol::a2h::Priority;
use countersign_protocol::time::Timestamp;

use super::filter::ListFilter;
use super::open_messages::{Countable, OpenMessages, ScanDirection};
use super::page::scan;
use crate::error::StoreError;
use crate::exec::{AccessMode, Exec, Op, Param};
use crate::model::{CountsNow, InboxOrder, InboxWalk, OpenCount};

const MAX_COUNTED_FOR: i64 = 99;

/// The numbers beside a person's lists. Counts that could take long are capped.
pub struct Counts {
    pub person: String,
}

impl Op for Counts {
    type Out = CountsNow;
    const MODE: AccessMode = AccessMode::Scan;

    async fn run<X: Exec>(&self, x: &mut X, now: Timestamp) -> Result<CountsNow, StoreError> {
        const NOTICES: &str = "SELECT COUNT(*) FROM (SELECT 1 FROM (SELECT seq FROM message WHERE status = 'delivered' \
             AND resolved_at IS NOT NULL ORDER BY resolved_at DESC, seq DESC LIMIT 2000) AS newest WHERE NOT EXISTS \
             (SELECT 1 FROM shelf s WHERE s.person = ?1 AND s.seq = newest.seq AND s.until IS NULL) LIMIT 100) AS unread";
        const FAILING: &str =
            "SELECT COUNT(*) FROM (SELECT 1 FROM delivery WHERE track = 'failed' LIMIT 100) AS failing";
        let person = (&self.person).into();
        let (open, snoozed) = open_and_snoozed(x, &self.person, now).await?;
        Ok(CountsNow {
            open,
            snoozed,
            notices: number(x, NOTICES, &[person]).await?,
            failing: number(x, FAILING, &[]).await?,
        })
    }
}

/// The open asks and tasks that a person may resolve and has not snoozed. Only the text of a message says who may
/// resolve it, so the count is capped.
pub struct OpenFor {
    pub person: String,
}

impl Op for OpenFor {
    type Out = OpenCount;
    const MODE: AccessMode = AccessMode::Scan;

    async fn run<X: Exec>(&self, x: &mut X, now: Timestamp) -> Result<OpenCount, StoreError> {
        let resolver = &Actor::human(&self.person);
        let filter = &ListFilter {
            resolver: Some(resolver.clone()),
            ..ListFilter::default()
        };
        let open = OpenMessages {
            viewer: Some(&self.person),
            filter,
            order: InboxOrder::Newest,
            direction: ScanDirection::Forwards,
            walk: InboxWalk {
                soon_before: now,
                waiting: Vec::new(),
            },
        };
        let found = scan(x, &Countable { open, resolver }, None, MAX_COUNTED_FOR, now).await?;
        Ok(OpenCount {
            counted: found.items.len(),
            has_more: found.next.is_some(),
        })
    }
}

/// The number of open asks and tasks that the person has not snoozed.
pub struct WaitingCount {
    pub person: String,
}

impl Op for WaitingCount {
    type Out = i64;
    const MODE: AccessMode = AccessMode::Scan;

    async fn run<X: Exec>(&self, x: &mut X, now: Timestamp) -> Result<i64, StoreError> {
        Ok(open_and_snoozed(x, &self.person, now).await?.0)
    }
}

async fn open_and_snoozed<X: Exec>(x: &mut X, person: &str, now: Timestamp) -> Result<(i64, i64), StoreError> {
    const SNOOZED: &str = "SELECT COUNT(*) FROM shelf s JOIN message m ON m.seq = s.seq \
         WHERE s.person = ?1 AND s.until > ?2 AND m.status = 'open'";
    let snoozed = number(x, SNOOZED, &[person.into(), now.into()]).await?;
    let open = open_count(x).await?;
    Ok((open.saturating_sub(snoozed).max(0), snoozed))
}

/// Open asks and tasks.
pub async fn open_count<X: Exec>(x: &mut X) -> Result<i64, StoreError> {
    // From the counters of agents and of removed agents: counting the messages would grow with their number.
    const OPEN: &str = "SELECT CAST(COALESCE(SUM(open), 0) AS BIGINT) FROM agent";
    const LEFT: &str = "SELECT CAST(value AS BIGINT) FROM setting WHERE name = 'left_open'";
    Ok(number(x, OPEN, &[]).await?.saturating_add(number(x, LEFT, &[]).await?))
}

/// When the open ask or task that waits longest arrived.
pub struct OldestOpen;

impl Op for OldestOpen {
    type Out = Option<Timestamp>;
    const MODE: AccessMode = AccessMode::Read;

    async fn run<X: Exec>(&self, x: &mut X, _now: Timestamp) -> Result<Option<Timestamp>, StoreError> {
        oldest_open(x).await
    }
}

/// When the open ask or task that waits longest arrived: the first one of each priority in the index.
pub async fn oldest_open<X: Exec>(x: &mut X) -> Result<Option<Timestamp>, StoreError> {
    const OLDEST: &str = "SELECT received_at FROM message WHERE status = 'open' AND rank = ?1 ORDER BY seq LIMIT 1";
    let mut oldest = None;
    for priority in [Priority::Urgent, Priority::High, Priority::Normal, Priority::Low] {
        if let Some(mut row) = x.row(OLDEST, &[inbox_rank(priority).into()]).await? {
            let received_at = row.instant(0)?;
            oldest = Some(oldest.map_or(received_at, |oldest| received_at.min(oldest)));
        }
    }
    Ok(oldest)
}

async fn number<X: Exec>(x: &mut X, sql: &'static str, params: &[Param<'_>]) -> Result<i64, StoreError> {
    x.row(sql, params).await?.map_or(Ok(0), |mut row| row.int(0))
}
