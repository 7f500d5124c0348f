use countersign_protocol::time::Timestamp;

use crate::error::StoreError;
use crate::exec::{AccessMode, Exec, Op};
use crate::model::ListEntry;
use crate::ops::agent::names;
use crate::ops::rows;

/// All messages, newest first; of one agent or of all, of one status or of any.
pub struct History {
    pub agent_id: Option<String>,
    pub status: Option<String>,
    pub before: Option<i64>,
    pub limit: i64,
}

impl Op for History {
    type Out = Vec<ListEntry>;
    const MODE: AccessMode = AccessMode::Scan;

    async fn run<X: Exec>(&self, x: &mut X, _now: Timestamp) -> Result<Vec<ListEntry>, StoreError> {
        const ALL: &str = rows::select_items!(
            "WHERE m.purged_at IS NULL AND m.seq < ?1 AND (?2 = '' OR m.status = ?2) ORDER BY m.seq DESC LIMIT ?3"
        );
        const OF_AGENT: &str = rows::select_items!(
            "WHERE m.purged_at IS NULL AND m.seq < ?1 AND (?2 = '' OR m.status = ?2) AND m.agent_id = ?4 \
             ORDER BY m.seq DESC LIMIT ?3"
        );
        let before = self.before.unwrap_or(i64::MAX);
        let status = self.status.as_deref().unwrap_or_default();
        let found = match &self.agent_id {
            None => x.rows(ALL, &[before.into(), status.into(), self.limit.into()]).await?,
            Some(agent) => {
                x.rows(
                    OF_AGENT,
                    &[before.into(), status.into(), self.limit.into(), agent.into()],
                )
                .await?
            }
        };
        let entries = found.into_iter().map(|row| rows::entry(row, rows::item));
        let mut entries = entries.collect::<Result<Vec<_>, _>>()?;
        names::fill(x, &mut entries).await?;
        Ok(entries)
    }

    fn damage(found: &Vec<ListEntry>) -> Vec<StoreError> {
        rows::damage(found)
    }
}
