//! From the end of an attempt to what becomes of its obligation.

use std::time::Duration;

use countersign_core::delivery::{Attempt, Schedule};
use countersign_protocol::time::Timestamp;
use countersign_store::model::{Claim, Settlement};
use countersign_store::ops::deliver::Settle;
use countersign_store::{Store, StoreError};
use tokio::sync::watch;

/// Totals since the start of this process.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct DeliveryCounts {
    pub delivered: u64,
    /// Given up at the word of the receiver or of the guard.
    pub refused: u64,
    /// Given up after the last attempt.
    pub failed: u64,
    /// Put off to a later attempt.
    pub retried: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ending {
    Delivered,
    Refused,
    Exhausted,
    PutOff,
}

impl Ending {
    fn code(self) -> &'static str {
        match self {
            Self::Delivered => "delivered",
            Self::Refused => "refused",
            Self::Exhausted => "exhausted",
            Self::PutOff => "retry",
        }
    }
}

const FIRST_PAUSE: Duration = Duration::from_millis(100);
const LONGEST_PAUSE: Duration = Duration::from_secs(2);

/// Writes down how an attempt ended. If the store does not take it before the claim's lease runs out, the push is repeated:
/// at least once, never lost.
pub async fn settle(
    store: &Store,
    schedule: &Schedule,
    counts: &watch::Sender<DeliveryCounts>,
    host: &str,
    claim: Claim,
    attempt: &Attempt,
) {
    let (ending, settlement) = settlement(schedule, &claim, attempt, store.clock().now(), jitter());
    log(host, &claim, ending, &settlement);
    let message_id = claim.message_id.clone();
    match insist(store, Settle { claim, settlement }).await {
        Ok(true) => counts.send_modify(|counts| *place(counts, ending) += 1),
        // Another hub took it over meanwhile, and says how it ends.
        Ok(false) => tracing::info!(id = %message_id, host, "a push was taken over before it was settled"),
        Err(error) => tracing::error!(id = %message_id, host, %error, "a push could not be settled"),
    }
}

/// A store that is away for a moment is tried again for as long as the claim holds. What it took without saying so is
/// refused the second time, which changes nothing.
async fn insist(store: &Store, settle: Settle) -> Result<bool, StoreError> {
    let mut pause = FIRST_PAUSE;
    loop {
        let error = match store.run(settle.clone()).await {
            Err(error @ (StoreError::Unavailable(_) | StoreError::Ended(_) | StoreError::Unsure(_))) => error,
            settled => return settled,
        };
        if store.clock().now().plus(pause) > settle.claim.until {
            return Err(error);
        }
        tokio::time::sleep(pause).await;
        pause = (pause * 2).min(LONGEST_PAUSE);
    }
}

fn settlement(
    schedule: &Schedule,
    claim: &Claim,
    attempt: &Attempt,
    now: Timestamp,
    jitter: f64,
) -> (Ending, Settlement) {
    match attempt {
        Attempt::Delivered { .. } => (Ending::Delivered, Settlement::Delivered),
        Attempt::Refused { reason } => (Ending::Refused, Settlement::Failed { reason: reason.clone() }),
        Attempt::Failed { reason } => {
            let attempts = claim.attempts.saturating_add(1);
            match schedule.next_attempt(attempts, claim.created_at, now, jitter) {
                Some(at) => (
                    Ending::PutOff,
                    Settlement::Retry {
                        at,
                        reason: reason.clone(),
                    },
                ),
                None => {
                    let reason = format!("given up after {attempts} attempts: {reason}");
                    (Ending::Exhausted, Settlement::Failed { reason })
                }
            }
        }
    }
}

fn place(counts: &mut DeliveryCounts, ending: Ending) -> &mut u64 {
    match ending {
        Ending::Delivered => &mut counts.delivered,
        Ending::Refused => &mut counts.refused,
        Ending::Exhausted => &mut counts.failed,
        Ending::PutOff => &mut counts.retried,
    }
}

fn log(host: &str, claim: &Claim, ending: Ending, settlement: &Settlement) {
    let id = &claim.message_id;
    let attempt = claim.attempts.saturating_add(1);
    let outcome = ending.code();
    match settlement {
        Settlement::Delivered => tracing::debug!(%id, host, attempt, outcome, "pushed"),
        Settlement::Retry { reason, .. } => tracing::info!(%id, host, attempt, outcome, reason, "push put off"),
        Settlement::Failed { reason } => tracing::warn!(%id, host, attempt, outcome, reason, "push given up"),
    }
}

/// A number in 0..1. Without randomness the retries are merely not spread.
fn jitter() -> f64 {
    getrandom::u32().map_or(0.5, |bits| f64::from(bits) / f64::from(u32::MAX))
}
