//! Following runs that another node owns.

use countersign_protocol::id::MessageId;
use countersign_protocol::time::Timestamp;

use super::convert::{count, to_i64};
use super::events::event;
use super::model::{Run, StoredEvent, StoredRunState};
use super::read::{self, select_whole_runs};
use crate::error::StoreError;
use crate::exec::{AccessMode, Exec, Op, Row};
use crate::ops::rows;

/// The version of a run: as long as it is equal, nothing has changed. Every write of a run has a new id, and resolving
/// an ask changes the number of open asks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunVersion {
    pub run_id: String,
    pub segment: u64,
    pub state: StoredRunState,
    /// The id of the last write.
    pub write_id: String,
    pub open_asks: u64,
}

/// The versions of the given runs, without unknown ones. The ids must fit into one query.
pub struct RunVersions {
    pub run_ids: Vec<String>,
}

impl Op for RunVersions {
    type Out = Vec<RunVersion>;
    const MODE: AccessMode = AccessMode::Read;

    async fn run<X: Exec>(&self, x: &mut X, _now: Timestamp) -> Result<Vec<RunVersion>, StoreError> {
        let run_ids = serde_json::to_string(&self.run_ids)?;
        let found = x.rows(X::DIALECT.run_versions, &[(&run_ids).into()]).await?;
        rows::readable(found, "run", version)
    }
}

/// Everything a follower needs, in one snapshot.
pub struct FollowRun {
    pub run_id: String,
    /// Read events after this number; `None` reads no events.
    pub after: Option<u64>,
    pub limit: i64,
    /// The whole run is read only if its segment differs from this one.
    pub known_segment: Option<u64>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Followed {
    pub version: RunVersion,
    pub new_segment: Option<NewSegment>,
    /// Oldest first.
    pub open: Vec<OpenAsk>,
    pub events: Vec<StoredEvent>,
    /// The number of the run's last event.
    pub last_event: u64,
}

/// A segment that the follower did not know.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewSegment {
    pub run: Run,
    /// The number of the segment's first event, unless it was pruned.
    pub first_event: Option<u64>,
}

/// An open ask of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpenAsk {
    pub message_id: MessageId,
    /// The message as it was sent to followers.
    pub wire: String,
}

impl Op for FollowRun {
    type Out = Option<Followed>;
    const MODE: AccessMode = AccessMode::Scan;

    async fn run<X: Exec>(&self, x: &mut X, _now: Timestamp) -> Result<Option<Followed>, StoreError> {
        let run_ids = serde_json::to_string(&[&self.run_id])?;
        let Some(mut row) = x.row(X::DIALECT.run_versions, &[(&run_ids).into()]).await? else {
            return Ok(None);
        };
        let version = version(&mut row)?;
        let run_seq = row.int(6)?;
        let new_segment = match self.known_segment {
            Some(known) if known == version.segment => None,
            Some(_) | None => new_segment(x, run_seq).await?,
        };
        let open = if version.open_asks > 0 {
            open_asks(x, run_seq, version.segment).await?
        } else {
            Vec::new()
        };
        let events = match self.after {
            Some(after) => events(x, run_seq, after, self.limit).await?,
            None => Vec::new(),
        };
        let last_event = last_event(x, run_seq).await?;
        Ok(Some(Followed {
            version,
            new_segment,
            open,
            events,
            last_event,
        }))
    }
}

fn version(row: &mut Row) -> Result<RunVersion, StoreError> {
    Ok(RunVersion {
        run_id: row.text(0)?,
        segment: count(row, 1)?,
        state: read::state(row, 2)?,
        write_id: row.text(4)?,
        open_asks: count(row, 5)?,
    })
}

async fn new_segment<X: Exec>(x: &mut X, run_seq: i64) -> Result<Option<NewSegment>, StoreError> {
    const RUN: &str = select_whole_runs!("WHERE r.seq = ?1");
    const FIRST: &str = "SELECT max(seq) FROM run_event WHERE run_seq = ?1 AND kind = 'strategy_started'";
    let Some(mut row) = x.row(RUN, &[run_seq.into()]).await? else {
        return Ok(None);
    };
    let run = read::run(&mut row)?;
    Ok(Some(NewSegment {
        run,
        first_event: highest(x.row(FIRST, &[run_seq.into()]).await?)?,
    }))
}

/// The open asks of a run, oldest first.
pub struct OpenAsks {
    pub run_id: String,
}

impl Op for OpenAsks {
    type Out = Vec<OpenAsk>;
    const MODE: AccessMode = AccessMode::Read;

    async fn run<X: Exec>(&self, x: &mut X, _now: Timestamp) -> Result<Vec<OpenAsk>, StoreError> {
        const FIND: &str = "SELECT seq, segment FROM run WHERE run_id = ?1";
        let Some(mut row) = x.row(FIND, &[(&self.run_id).into()]).await? else {
            return Ok(Vec::new());
        };
        let run_seq = row.int(0)?;
        let segment = count(&mut row, 1)?;
        open_asks(x, run_seq, segment).await
    }
}

async fn open_asks<X: Exec>(x: &mut X, run_seq: i64, segment: u64) -> Result<Vec<OpenAsk>, StoreError> {
    const OPEN: &str = "SELECT m.id, t.wire FROM run_ask a JOIN message m ON m.seq = a.message_seq \
         JOIN message_text t ON t.seq = m.seq \
         WHERE a.run_seq = ?1 AND a.done = 0 AND a.segment = ?2 AND m.status = 'open' ORDER BY a.message_seq";
    let found = x.rows(OPEN, &[run_seq.into(), to_i64(segment).into()]).await?;
    let open = |mut row: Row| {
        Ok(OpenAsk {
            message_id: rows::message_id(&mut row, 0)?,
            wire: row.text(1)?,
        })
    };
    found.into_iter().map(open).collect()
}

async fn events<X: Exec>(x: &mut X, run_seq: i64, after: u64, limit: i64) -> Result<Vec<StoredEvent>, StoreError> {
    const EVENTS: &str = "SELECT seq, kind, body FROM run_event WHERE run_seq = ?1 AND seq > ?2 ORDER BY seq LIMIT ?3";
    let found = x
        .rows(EVENTS, &[run_seq.into(), to_i64(after).into(), limit.into()])
        .await?;
    found.into_iter().map(|mut row| event(&mut row)).collect()
}

async fn last_event<X: Exec>(x: &mut X, run_seq: i64) -> Result<u64, StoreError> {
    const LAST: &str = "SELECT max(seq) FROM run_event WHERE run_seq = ?1";
    Ok(highest(x.row(LAST, &[run_seq.into()]).await?)?.unwrap_or(0))
}

/// `None` for an empty set.
fn highest(row: Option<Row>) -> Result<Option<u64>, StoreError> {
    let number = row.map(|mut row| row.opt_int(0)).transpose()?.flatten();
    Ok(number.and_then(|number| u64::try_from(number).ok()))
}
