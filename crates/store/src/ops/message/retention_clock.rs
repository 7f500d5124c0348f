//! The clock check before every purge.

use countersign_core::retention::RetentionClock;
use countersign_protocol::time::Timestamp;

use super::audit;
use crate::error::StoreError;
use crate::exec::{AccessMode, Exec, Op};

/// Compares the clock with the last check, which is stored: a wrong clock is often that of a fresh start. The first
/// check of a store compares with the newest audit entry.
pub struct CheckRetentionClock;

impl Op for CheckRetentionClock {
    type Out = RetentionClock;
    const MODE: AccessMode = AccessMode::Write;

    async fn run<X: Exec>(&self, x: &mut X, now: Timestamp) -> Result<RetentionClock, StoreError> {
        const READ: &str = "SELECT value FROM setting WHERE name = 'retention_clock'";
        const WRITE: &str = "INSERT INTO setting (name, value) VALUES ('retention_clock', ?1) \
             ON CONFLICT (name) DO UPDATE SET value = ?1";
        let earlier = match x.row(READ, &[]).await? {
            Some(mut row) => serde_json::from_str(&row.text(0)?)?,
            None => RetentionClock::trusting(audit::newest_at(x).await?.unwrap_or(now)),
        };
        let checked = earlier.check(now);
        x.exec(WRITE, &[(&serde_json::to_string(&checked)?).into()]).await?;
        Ok(checked)
    }
}
