//! The one long-poll: wait for the resolution of a message.

use std::time::Duration;

use countersign_protocol::id::MessageId;
use countersign_store::model::AgentView;
use countersign_store::waiters::{STORE_RETRY_DELAY, WaiterKind};
use tokio::time::Instant;

use crate::Hub;
use crate::problem::Problem;

/// What a door waits for, and how it reads it.
pub trait Polled: Send {
    const WAITER: WaiterKind;
    type Found: Send;

    fn read(&mut self) -> impl Future<Output = Result<Self::Found, Problem>> + Send;

    fn is_open(found: &Self::Found) -> bool;

    /// Fails when the credential of the caller was revoked.
    fn recheck(&self) -> impl Future<Output = Result<(), Problem>> + Send;

    /// Called with an open message before each wait.
    fn begin_wait(&mut self, _found: &Self::Found) {}

    /// The resolved message of a wake-up, if a door needs no more than that.
    fn resolved(_message: AgentView) -> Option<Self::Found> {
        None
    }
}

/// Waits until the message is resolved, the time is over or the hub stops. Registers first and then reads, so that no
/// resolution is missed in between.
pub async fn long_poll<P: Polled>(
    hub: &Hub,
    id: &MessageId,
    wait: Duration,
    polled: &mut P,
) -> Result<P::Found, Problem> {
    let deadline = Instant::now() + wait;
    let mut stopping = hub.process.stopping.clone();
    let mut revocations = hub.auth.credentials.revocations();
    let mut has_read = false;
    loop {
        let mut waiter = hub.messages.waiters.register(id, P::WAITER);
        // Boxed and freed before the wait, because a read needs much more memory than waiting does.
        let found = match Box::pin(polled.read()).await {
            // A long-poll continues while the store is unavailable.
            Err(Problem::Unavailable { .. }) if has_read && Instant::now() < deadline && !*stopping.borrow() => {
                tokio::time::sleep(STORE_RETRY_DELAY).await;
                continue;
            }
            read => read?,
        };
        has_read = true;
        if !P::is_open(&found) || *stopping.borrow() || Instant::now() >= deadline {
            return Ok(found);
        }
        polled.begin_wait(&found);
        drop(found);
        tokio::select! {
            // Biased: a revoked credential must not receive a later answer.
            biased;
            _ = revocations.changed() => Box::pin(polled.recheck()).await?,
            message = waiter.woken() => {
                if let Some(found) = message.and_then(|message| P::resolved(*message)) {
                    return Ok(found);
                }
            }
            () = tokio::time::sleep_until(deadline) => {}
            _ = stopping.changed() => {}
        }
    }
}
