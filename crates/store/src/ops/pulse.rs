//! The facts behind the figures of the last days.

use countersign_core::Resolution;
use countersign_core::message::{Outcome, Status};
use countersign_core::vocabulary::{Ending, Tone};
use countersign_protocol::time::Timestamp;

use super::list::latest_decided;
use super::rows;
use crate::error::StoreError;
use crate::exec::{AccessMode, Exec, Op, Row};

/// Decisions that one read returns; the latest ones, if there were more.
pub const MAX_DECISIONS: i64 = 5_000;

/// What waits, and what was decided since a time.
pub struct ReadPulse {
    pub since: Timestamp,
}

#[derive(Debug, Clone, Default)]
pub struct PulseFacts {
    /// Open asks and tasks, at most `MAX_DECISIONS`.
    pub waiting: i64,
    /// When the one that waits longest arrived.
    pub oldest: Option<Timestamp>,
    /// The latest first.
    pub decisions: Vec<DecisionFact>,
    /// There were more decisions than one read returns.
    pub is_cut: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DecisionFact {
    pub agent_id: String,
    pub received_at: Timestamp,
    pub resolved_at: Timestamp,
    pub tone: Tone,
    /// A person or an agent decided; the time did not run out, and the asker did not withdraw it.
    pub is_decided: bool,
    /// The declared default became the answer.
    pub is_default: bool,
}

impl Op for ReadPulse {
    type Out = PulseFacts;
    const MODE: AccessMode = AccessMode::Scan;

    async fn run<X: Exec>(&self, x: &mut X, _now: Timestamp) -> Result<PulseFacts, StoreError> {
        const OPEN: &str = "SELECT COUNT(*), MIN(received_at) FROM (SELECT received_at FROM message \
             WHERE status = 'open' ORDER BY rank, seq LIMIT ?1) AS waiting";
        const DECIDED: &str = concat!(
            "SELECT m.agent_id, m.received_at, m.resolved_at, m.status, r.body FROM message m \
             LEFT JOIN resolution r ON r.seq = m.resolution_seq WHERE m.seq IN (",
            latest_decided!(),
            ") AND m.resolved_at >= ?4 ORDER BY m.resolved_at DESC, m.seq DESC"
        );
        let mut facts = PulseFacts::default();
        if let Some(mut row) = x.row(OPEN, &[MAX_DECISIONS.into()]).await? {
            facts.waiting = row.int(0)?;
            facts.oldest = row.opt_instant(1)?;
        }
        let end = i64::MAX.into();
        let rows = x
            .rows(DECIDED, &[end, end, MAX_DECISIONS.into(), self.since.into()])
            .await?;
        facts.is_cut = i64::try_from(rows.len()).is_ok_and(|count| count >= MAX_DECISIONS);
        facts.decisions = rows::readable(rows, "message", decision)?;
        Ok(facts)
    }
}

/// A decision whose answer retention has removed counts as one that is neither yes nor no.
fn decision(row: &mut Row) -> Result<DecisionFact, StoreError> {
    let Status::Resolved(outcome) = rows::status(row.peek(3).unwrap_or_default())? else {
        return Err(StoreError::Corrupt("an open message has a decision".to_owned()));
    };
    let resolution = row
        .peek(4)
        .and_then(|body| serde_json::from_str::<Resolution>(body).ok());
    let value = resolution
        .as_ref()
        .filter(|resolution| !resolution.edited)
        .and_then(|resolution| resolution.value.as_ref()?.as_str());
    let tone = Ending::of(outcome, value).tone;
    Ok(DecisionFact {
        is_default: resolution.is_some_and(|resolution| resolution.defaulted),
        agent_id: row.text(0)?,
        received_at: row.instant(1)?,
        resolved_at: row.instant(2)?,
        tone,
        is_decided: !matches!(outcome, Outcome::Expired | Outcome::Cancelled),
    })
}
