//! A rate limiter (GCRA) for nodes that share a store. One row per key holds the time at which the full burst is
//! available again; each admission moves that time later by one interval, up to the size of the burst.

use std::time::Duration;

use countersign_protocol::time::Timestamp;

use crate::error::StoreError;
use crate::exec::{AccessMode, Exec, Op};

/// Milliseconds are too coarse: a limit may be thousands per second.
const MICROS_PER_MILLISECOND: i64 = 1000;

/// Concurrent transactions may read slightly later times.
const MAX_CLOCK_DIFFERENCE: Duration = Duration::from_secs(60);

/// Takes one token, if one is available.
pub struct Admit {
    pub key: String,
    /// The burst size after a rest.
    pub burst: u32,
    /// The time in which one token is refilled.
    pub interval: Duration,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Admission {
    Granted,
    /// Refused; a token is available after this long.
    After(Duration),
}

impl Op for Admit {
    type Out = Admission;
    const MODE: AccessMode = AccessMode::UnacknowledgedWrite;

    async fn run<X: Exec>(&self, x: &mut X, now: Timestamp) -> Result<Admission, StoreError> {
        const USE: &str = "INSERT INTO rate (key, full_at) VALUES (?1, CAST(?2 AS BIGINT) + CAST(?3 AS BIGINT)) \
             ON CONFLICT (key) DO UPDATE SET full_at = \
             CASE WHEN rate.full_at > ?2 AND rate.full_at <= ?5 THEN rate.full_at ELSE ?2 END + ?3 \
             WHERE rate.full_at <= ?4 OR rate.full_at > ?5";
        const FULL_AT: &str = "SELECT full_at FROM rate WHERE key = ?1";
        let now = now.as_millis().saturating_mul(MICROS_PER_MILLISECOND);
        let interval_micros = micros(self.interval).max(1);
        let latest = now.saturating_add(interval_micros.saturating_mul(i64::from(self.burst.max(1)) - 1));
        // A row beyond this was written before the clock was set back; it counts as a full burst.
        let impossible = latest
            .saturating_add(interval_micros)
            .saturating_add(micros(MAX_CLOCK_DIFFERENCE));
        let params = [
            (&self.key).into(),
            now.into(),
            interval_micros.into(),
            latest.into(),
            impossible.into(),
        ];
        if x.exec(USE, &params).await? == 1 {
            return Ok(Admission::Granted);
        }
        let full_at = x
            .row(FULL_AT, &[(&self.key).into()])
            .await?
            .map(|mut row| row.int(0))
            .transpose()?;
        let wait = full_at.map_or(0, |full_at| full_at.saturating_sub(latest)).max(1);
        Ok(Admission::After(Duration::from_micros(wait.unsigned_abs())))
    }
}

fn micros(duration: Duration) -> i64 {
    i64::try_from(duration.as_micros()).unwrap_or(i64::MAX)
}

/// Deletes keys whose full burst is available again. Returns how many.
pub struct ForgetRates {
    pub limit: i64,
}

impl Op for ForgetRates {
    type Out = u64;
    const MODE: AccessMode = AccessMode::Write;

    async fn run<X: Exec>(&self, x: &mut X, now: Timestamp) -> Result<u64, StoreError> {
        const FORGET: &str = "DELETE FROM rate WHERE full_at <= ?1 AND key IN \
             (SELECT key FROM rate WHERE full_at <= ?1 ORDER BY full_at LIMIT ?2)";
        let now = now.as_millis().saturating_mul(MICROS_PER_MILLISECOND);
        x.exec(FORGET, &[now.into(), self.limit.into()]).await
    }
}
