//! The facts behind the figures of the last days.

use countersign_protocol::time::Timestamp;

mod figures;

pub use self::figures::{AgentGroup, AgentVolume, Figures, SPAN_ENDS, ToneCounts, percent};
pub use super::decisions::DecisionFact;
use super::decisions::{decision_columns, decisions};
use super::list::{latest_decided, oldest_open, open_count};
use crate::error::StoreError;
use crate::exec::{AccessMode, Exec, Op};

/// Decisions that one read returns; the latest ones, if there were more.
pub const MAX_DECISIONS: i64 = 5_000;
/// The newest messages that one read counts.
pub const MAX_RECEIVED: i64 = 20_000;

/// What waits, and what came and was decided since a time.
pub struct ReadPulse {
    pub since: Timestamp,
}

#[derive(Debug, Clone, Default)]
pub struct PulseFacts {
    /// Open asks and tasks.
    pub waiting: i64,
    /// When the one that waits longest arrived.
    pub oldest: Option<Timestamp>,
    /// The latest first.
    pub decisions: Vec<DecisionFact>,
    /// The number of messages that came, by agent.
    pub received: Vec<(String, usize)>,
    /// There were more decisions or messages than one read returns.
    pub is_cut: bool,
}

impl Op for ReadPulse {
    type Out = PulseFacts;
    const MODE: AccessMode = AccessMode::Scan;

    async fn run<X: Exec>(&self, x: &mut X, _now: Timestamp) -> Result<PulseFacts, StoreError> {
        const DECIDED: &str = concat!(
            "SELECT ",
            decision_columns!(),
            " FROM message m LEFT JOIN resolution r ON r.seq = m.resolution_seq WHERE m.seq IN (",
            latest_decided!(),
            ") AND m.resolved_at >= ?4 ORDER BY m.resolved_at DESC, m.seq DESC"
        );
        let end = i64::MAX.into();
        let rows = x
            .rows(DECIDED, &[end, end, MAX_DECISIONS.into(), self.since.into()])
            .await?;
        let are_decisions_cut = is_at_limit(rows.len(), MAX_DECISIONS);
        let received = self.received(x).await?;
        let total = received.iter().map(|(_, count)| count).sum();
        Ok(PulseFacts {
            waiting: open_count(x).await?,
            oldest: oldest_open(x).await?,
            decisions: decisions(x, rows).await?,
            is_cut: are_decisions_cut || is_at_limit(total, MAX_RECEIVED),
            received,
        })
    }
}

impl ReadPulse {
    async fn received<X: Exec>(&self, x: &mut X) -> Result<Vec<(String, usize)>, StoreError> {
        // The inner limit bounds the scan.
        const RECEIVED: &str = "SELECT agent_id, COUNT(*) FROM (SELECT agent_id, received_at FROM message \
             ORDER BY seq DESC LIMIT ?1) AS newest WHERE received_at >= ?2 GROUP BY agent_id";
        let rows = x.rows(RECEIVED, &[MAX_RECEIVED.into(), self.since.into()]).await?;
        let read = rows.into_iter().map(|mut row| {
            let count = usize::try_from(row.int(1)?).unwrap_or_default();
            Ok((row.text(0)?, count))
        });
        read.collect()
    }
}

fn is_at_limit(count: usize, limit: i64) -> bool {
    i64::try_from(count).is_ok_and(|count| count >= limit)
}
