//! Committing the events of a run, then broadcasting them.

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use countersign_protocol::backoff::Backoff;
use countersign_store::ops::run::{Advance, RunPhase};
use countersign_store::{Op, StoreError};
use tokio::time::{Instant, sleep_until};

use super::state::{Halt, RunTask, Stopped};
use crate::engine::commands::RunCommand;
use crate::follow::broadcast::RunUpdate;

const FIRST_BACKOFF: Duration = Duration::from_millis(100);
const MAX_BACKOFF: Duration = Duration::from_secs(5);

impl RunTask {
    pub(crate) async fn commit(&mut self, phase: RunPhase) -> Result<(), Halt> {
        let news = self.store(phase, |advance| advance).await?;
        self.broadcast(news);
        Ok(())
    }

    /// Stores the buffered events, as part of the operation that `op` makes of them. Stores or waits: followers must not
    /// see an event that a restart would not know.
    pub(crate) async fn store<O: Op<Out = bool>>(
        &mut self,
        phase: RunPhase,
        op: impl Fn(Advance) -> O,
    ) -> Result<RunUpdate, Halt> {
        let machine = serde_json::to_string(&self.checkpoint).map_err(|error| Halt::Failed(error.to_string()))?;
        self.phase = phase;
        let (advance, news) = self.event_buffer.drain(phase, machine);
        let service = Arc::clone(&self.service);
        match self.retry_store(|| service.store.run(op(advance.clone()))).await {
            Ok(true) => Ok(news),
            stored => {
                // Stored with the end of the run instead.
                self.event_buffer.put_back(advance, news);
                stored.and(Err(Halt::OwnershipLost))
            }
        }
    }

    /// Broadcasts stored events to followers here and signals other hubs.
    pub(crate) fn broadcast(&self, news: RunUpdate) {
        self.run.lock().broadcast(news);
        self.service.host.run_advanced(&self.run.id);
    }

    /// Retries with exponential backoff until the store succeeds, or fails permanently.
    pub(crate) async fn retry_store<T, F>(&mut self, attempt: impl Fn() -> F) -> Result<T, Halt>
    where
        F: Future<Output = Result<T, StoreError>>,
    {
        let mut backoff = Backoff::new(FIRST_BACKOFF, MAX_BACKOFF);
        let mut is_sure = true;
        loop {
            let error = match attempt().await {
                Ok(done) => return Ok(done),
                Err(error) => error,
            };
            if error.is_damage() || matches!(error, StoreError::NewerSchema { .. }) {
                tracing::error!(run_id = self.run.id, %error, "storing a run failed; the run ends");
                return Err(Halt::Failed(
                    "The hub's store failed. The hub's log has the cause.".to_owned(),
                ));
            }
            tracing::error!(run_id = self.run.id, %error, "storing a run failed; retrying");
            // After a commit of unknown outcome the run does not halt before the outcome is known.
            is_sure &= !matches!(error, StoreError::CommitUnknown(_));
            self.pause(backoff.pause(), is_sure).await?;
        }
    }

    /// Sleeps, but handles stop commands meanwhile, so that the agent stops; other commands are deferred.
    async fn pause(&mut self, length: Duration, may_halt: bool) -> Result<(), Halt> {
        let until = Instant::now() + length;
        loop {
            let command = tokio::select! {
                () = sleep_until(until) => return Ok(()),
                Some(command) = self.commands.next_new() => command,
            };
            let halt = match command {
                later @ (RunCommand::Steer { .. } | RunCommand::Policy { .. }) => {
                    self.commands.defer(later);
                    continue;
                }
                later if !may_halt && !self.is_ending => {
                    self.commands.defer(later);
                    continue;
                }
                RunCommand::Stop { stopped } => {
                    self.stopped.push(stopped);
                    Halt::Cancelled(Stopped::ByClient)
                }
                RunCommand::HubStops { settled } => {
                    self.stopped.push(settled);
                    self.halt_for_shutdown()
                }
                RunCommand::OwnershipLost => Halt::OwnershipLost,
            };
            if !self.is_ending {
                return Err(halt);
            }
        }
    }
}
