//! Quotas for the terminal agents of one person. They count together, because an agent can take any number of names.

use std::time::Duration;

use countersign_protocol::time::Timestamp;

use crate::error::StoreError;
use crate::exec::Exec;
use crate::ops::row_lock;

/// How long a join counts towards the quota.
pub const JOIN_WINDOW: Duration = Duration::from_secs(90 * 24 * 3600);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TerminalQuota {
    /// Open cues of one agent.
    pub open_of_agent: i64,
    /// Open cues of all agents of the person.
    pub open_of_person: i64,
    /// Agents of the person that joined within [`JOIN_WINDOW`].
    pub joined: i64,
}

pub(super) async fn may_join<X: Exec>(x: &mut X, person: &str, max: i64, now: Timestamp) -> Result<bool, StoreError> {
    const COUNT: &str = "SELECT COUNT(*) FROM (SELECT 1 AS one FROM terminal \
         WHERE person = ?1 AND joined_at >= ?2 LIMIT ?3) AS lately";
    let since = i64::try_from(JOIN_WINDOW.as_millis()).unwrap_or(i64::MAX);
    let since = Timestamp::from_millis(now.as_millis().saturating_sub(since));
    let joined = x
        .row(COUNT, &[person.into(), since.into(), max.into()])
        .await?
        .map_or(Ok(0), |mut row| row.int(0))?;
    Ok(joined < max)
}

/// Whether the person has a free slot for an open cue.
pub(super) async fn may_ask<X: Exec>(x: &mut X, person: &str, max: i64) -> Result<bool, StoreError> {
    let open = x
        .row("SELECT cues FROM person WHERE name = ?1", &[person.into()])
        .await?;
    Ok(open.map_or(Ok(0), |mut row| row.int(0))? < max)
}

/// The same with the person's row locked, so that the slot stays free. Lock order: after the agent, as in a resolution.
pub(super) async fn lock_and_check_may_ask<X: Exec>(x: &mut X, person: &str, max: i64) -> Result<bool, StoreError> {
    row_lock::person(x, person).await?;
    may_ask(x, person, max).await
}

pub(super) async fn reserve<X: Exec>(x: &mut X, person: &str) -> Result<(), StoreError> {
    x.exec("UPDATE person SET cues = cues + 1 WHERE name = ?1", &[person.into()])
        .await
        .map(drop)
}

/// Releases the person's slots of `count` cues of the agent. A removed person has no slots to release.
pub async fn release<X: Exec>(x: &mut X, agent_id: &str, count: i64) -> Result<(), StoreError> {
    const RELEASE: &str = "UPDATE person SET cues = cues - ?1 \
         WHERE name = (SELECT person FROM terminal WHERE agent_id = ?2)";
    x.exec(RELEASE, &[count.into(), agent_id.into()]).await.map(drop)
}
