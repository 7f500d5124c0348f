//! The time an agent last called.

use countersign_protocol::time::Timestamp;

use crate::error::StoreError;
use crate::exec::{AccessMode, Exec, Op};

/// The time never moves backwards, regardless of the order in which nodes report it.
pub struct RecordSeen {
    pub seen: Vec<(String, Timestamp)>,
}

impl Op for RecordSeen {
    type Out = ();
    const MODE: AccessMode = AccessMode::Write;

    async fn run<X: Exec>(&self, x: &mut X, _now: Timestamp) -> Result<(), StoreError> {
        const RECORD: &str = "UPDATE agent SET seen_at = ?1 WHERE id = ?2 AND (seen_at IS NULL OR seen_at < ?1)";
        // A fixed lock order, so that two nodes cannot deadlock.
        let mut seen: Vec<_> = self.seen.iter().collect();
        seen.sort();
        for (agent_id, at) in seen {
            x.exec(RECORD, &[(*at).into(), agent_id.into()]).await?;
        }
        Ok(())
    }
}

pub struct AgentSeen {
    pub id: String,
}

impl Op for AgentSeen {
    type Out = Option<Timestamp>;
    const MODE: AccessMode = AccessMode::Read;

    async fn run<X: Exec>(&self, x: &mut X, _now: Timestamp) -> Result<Option<Timestamp>, StoreError> {
        match x
            .row("SELECT seen_at FROM agent WHERE id = ?1", &[(&self.id).into()])
            .await?
        {
            Some(mut row) => row.opt_instant(0),
            None => Ok(None),
        }
    }
}
