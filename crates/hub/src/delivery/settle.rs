//! Settles a claim after an attempt: delivered, failed or retried later.

use std::time::Duration;

use countersign_core::delivery::{Attempt, Schedule};
use countersign_protocol::backoff::Backoff;
use countersign_protocol::time::Timestamp;
use countersign_store::model::{Claim, Settlement};
use countersign_store::ops::deliver::Settle;
use countersign_store::{Store, StoreError};
use tokio::sync::watch;

/// Totals since the start of this process.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct DeliveryCounts {
    pub delivered: u64,
    /// Given up because the receiver or the address guard refused.
    pub refused: u64,
    /// Given up after the last attempt.
    pub failed: u64,
    /// Scheduled for a later attempt.
    pub retried: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum AttemptEnd {
    Delivered,
    Refused,
    Exhausted,
    Retried,
}

impl AttemptEnd {
    fn code(self) -> &'static str {
        match self {
            Self::Delivered => "delivered",
            Self::Refused => "refused",
            Self::Exhausted => "exhausted",
            Self::Retried => "retry",
        }
    }
}

const FIRST_RETRY_DELAY: Duration = Duration::from_millis(100);
const MAX_RETRY_DELAY: Duration = Duration::from_secs(2);

/// Stores the outcome of an attempt. If the store does not accept it before the lease of the claim ends, the push is
/// repeated: delivery is at least once.
pub async fn settle(
    store: &Store,
    schedule: &Schedule,
    counts: &watch::Sender<DeliveryCounts>,
    host: &str,
    claim: Claim,
    attempt: &Attempt,
) {
    let (end, settlement) = settlement(schedule, &claim, attempt, store.clock().now(), jitter());
    log(host, &claim, end, &settlement);
    let message_id = claim.message_id.clone();
    match settle_with_retries(store, Settle { claim, settlement }).await {
        Ok(true) => counts.send_modify(|counts| *counter(counts, end) += 1),
        // Another node took the claim over and settles it.
        Ok(false) => tracing::info!(message_id = %message_id, host, "push claim was taken over before it was settled"),
        Err(error) => {
            tracing::error!(message_id = %message_id, host, %error, "recording a push result failed; the push will be sent again")
        }
    }
}

/// Retries with backoff for as long as the lease of the claim holds. After an unsure commit that succeeded, the retry
/// is refused, which changes nothing.
async fn settle_with_retries(store: &Store, settle: Settle) -> Result<bool, StoreError> {
    let mut backoff = Backoff::new(FIRST_RETRY_DELAY, MAX_RETRY_DELAY);
    loop {
        let error = match store.run(settle.clone()).await {
            Err(
                error @ (StoreError::Unavailable(_) | StoreError::ConnectionEnded(_) | StoreError::CommitUnknown(_)),
            ) => error,
            settled => return settled,
        };
        let delay = backoff.pause();
        if store.clock().now().plus(delay) > settle.claim.until {
            return Err(error);
        }
        tokio::time::sleep(delay).await;
    }
}

fn settlement(
    schedule: &Schedule,
    claim: &Claim,
    attempt: &Attempt,
    now: Timestamp,
    jitter: f64,
) -> (AttemptEnd, Settlement) {
    match attempt {
        Attempt::Delivered { .. } => (AttemptEnd::Delivered, Settlement::Delivered),
        Attempt::Refused { reason } => (AttemptEnd::Refused, Settlement::Failed { reason: reason.clone() }),
        Attempt::Failed { reason } => {
            let attempts = claim.attempts.saturating_add(1);
            match schedule.next_attempt(attempts, claim.created_at, now, jitter) {
                Some(at) => (
                    AttemptEnd::Retried,
                    Settlement::Retry {
                        at,
                        reason: reason.clone(),
                    },
                ),
                None => {
                    let reason = format!("given up after {attempts} attempts: {reason}");
                    (AttemptEnd::Exhausted, Settlement::Failed { reason })
                }
            }
        }
    }
}

fn counter(counts: &mut DeliveryCounts, end: AttemptEnd) -> &mut u64 {
    match end {
        AttemptEnd::Delivered => &mut counts.delivered,
        AttemptEnd::Refused => &mut counts.refused,
        AttemptEnd::Exhausted => &mut counts.failed,
        AttemptEnd::Retried => &mut counts.retried,
    }
}

fn log(host: &str, claim: &Claim, end: AttemptEnd, settlement: &Settlement) {
    let id = &claim.message_id;
    let attempt = claim.attempts.saturating_add(1);
    let outcome = end.code();
    match settlement {
        Settlement::Delivered => tracing::debug!(message_id = %id, host, attempt, outcome, "push delivered"),
        Settlement::Retry { reason, .. } => {
            tracing::info!(message_id = %id, host, attempt, outcome, reason, "push failed; retrying later")
        }
        Settlement::Failed { reason } => {
            tracing::warn!(message_id = %id, host, attempt, outcome, reason, "push failed for good")
        }
    }
}

/// A number in 0..=1. Without randomness the retries are just not spread.
fn jitter() -> f64 {
    getrandom::u32().map_or(0.5, |bits| f64::from(bits) / f64::from(u32::MAX))
}
