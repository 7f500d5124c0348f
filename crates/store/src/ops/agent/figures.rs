use std::time::Duration;

use countersign_protocol::time::Timestamp;

use crate::error::StoreError;
use crate::exec::{AccessMode, Exec, Op};
use crate::ops::decisions::{decision_columns, decisions};

/// The figures of an agent's messages since a time, at most of its newest `MAX_COUNTED`.
pub struct FiguresOf {
    pub agent_id: String,
    pub since: Timestamp,
}

/// Figures of one agent.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AgentFigures {
    /// Messages that arrived.
    pub received: usize,
    /// The number of messages reached the limit, so that there may be more.
    pub is_capped: bool,
    /// Messages that were decided, neither expired nor withdrawn.
    pub decided: usize,
    /// Decisions that gave no answer.
    pub skipped: usize,
    /// Decisions that said no.
    pub denied: usize,
    /// The median time from arrival to decision.
    pub median: Option<Duration>,
}

impl FiguresOf {
    pub const MAX_COUNTED: usize = 2000;
}

impl Op for FiguresOf {
    type Out = AgentFigures;
    const MODE: AccessMode = AccessMode::Scan;

    async fn run<X: Exec>(&self, x: &mut X, _now: Timestamp) -> Result<AgentFigures, StoreError> {
        // The inner limit bounds the scan of an agent with many old messages.
        const SELECT: &str = concat!(
            "SELECT ",
            decision_columns!(),
            " FROM (SELECT seq, agent_id, status, received_at, resolved_at, resolution_seq FROM message \
             WHERE agent_id = ?1 ORDER BY seq DESC LIMIT 2000) AS m \
             LEFT JOIN resolution r ON r.seq = m.resolution_seq WHERE m.received_at >= ?2"
        );
        let found = x.rows(SELECT, &[(&self.agent_id).into(), self.since.into()]).await?;
        let mut figures = AgentFigures {
            received: found.len(),
            is_capped: found.len() >= Self::MAX_COUNTED,
            ..AgentFigures::default()
        };
        let mut times = Vec::new();
        for fact in decisions(x, found).await? {
            if fact.is_decided {
                figures.decided += 1;
                figures.skipped += usize::from(fact.is_skipped);
                figures.denied += usize::from(fact.ending.is_no());
                times.push(fact.resolved_at.since(fact.received_at));
            }
        }
        figures.median = median(times);
        Ok(figures)
    }
}

/// The lower one of the two in the middle.
fn median(mut times: Vec<Duration>) -> Option<Duration> {
    times.sort_unstable();
    times.get(times.len().saturating_sub(1) / 2).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn median_is_a_time_that_occurred() {
        let of = |seconds: &[u64]| median(seconds.iter().copied().map(Duration::from_secs).collect());
        assert_eq!(of(&[]), None);
        assert_eq!(of(&[9]), Some(Duration::from_secs(9)));
        assert_eq!(of(&[9, 1]), Some(Duration::from_secs(1)));
        assert_eq!(of(&[900, 1, 4]), Some(Duration::from_secs(4)));
    }
}
