//! Storing what the run came to, then telling it.

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use countersign_store::StoreError;
use countersign_store::ops::run::{Advance, Phase};
use tokio::time::{Instant, sleep_until};

use super::state::{Halt, Stopped, Task};
use crate::runs::mail::Mail;
use crate::runs::telling::News;

const FIRST_PAUSE: Duration = Duration::from_millis(100);
const LONGEST_PAUSE: Duration = Duration::from_secs(5);

impl Task {
    pub(super) async fn commit(&mut self, phase: Phase) -> Result<(), Halt> {
        let (advance, news) = self.close(phase)?;
        let hub = Arc::clone(&self.hub);
        if let Err(halt) = self.keep(|| hub.store.run(advance.clone())).await {
            // It is stored with the end, then.
            self.ledger.take_back(advance, news);
            return Err(halt);
        }
        self.tell(news);
        Ok(())
    }

    pub(super) fn close(&mut self, phase: Phase) -> Result<(Advance, News), Halt> {
        let machine = self.standing.text().map_err(|error| Halt::Failed(error.to_string()))?;
        self.phase = phase;
        Ok(self.ledger.close(phase, machine))
    }

    /// A run that cannot be stored waits until it can: nobody may hear what a restart would not know.
    pub(super) async fn keep<F>(&mut self, attempt: impl Fn() -> F) -> Result<(), Halt>
    where
        F: Future<Output = Result<bool, StoreError>>,
    {
        let is_under_way = self.insist(attempt).await?;
        self.hub.indexer.active();
        if is_under_way { Ok(()) } else { Err(Halt::Lost) }
    }

    /// Until the store can, or says that it never will.
    pub(super) async fn insist<T, F>(&mut self, attempt: impl Fn() -> F) -> Result<T, Halt>
    where
        F: Future<Output = Result<T, StoreError>>,
    {
        let mut pause = FIRST_PAUSE;
        let mut is_sure = true;
        loop {
            let error = match attempt().await {
                Ok(done) => return Ok(done),
                Err(error) => error,
            };
            tracing::error!(run_id = self.run.id, %error, "the store does not do what a run needs");
            if matches!(error, StoreError::Corrupt(_) | StoreError::NewerSchema { .. }) {
                return Err(Halt::Failed("The hub's store failed; its log says why.".to_owned()));
            }
            // What may have been stored is not given up before it is known whether it was.
            is_sure &= !matches!(error, StoreError::Unsure(_));
            self.pause(pause, is_sure).await?;
            pause = (pause * 2).min(LONGEST_PAUSE);
        }
    }

    /// Whoever stops the run is heard meanwhile, so that its agent does not work on; everything else waits.
    async fn pause(&mut self, length: Duration, may_halt: bool) -> Result<(), Halt> {
        let until = Instant::now() + length;
        loop {
            let mail = tokio::select! {
                () = sleep_until(until) => return Ok(()),
                Some(mail) = self.mail.fresh() => mail,
            };
            let halt = match mail {
                later @ (Mail::Steer { .. } | Mail::Policy { .. }) => {
                    self.mail.put_off(later);
                    continue;
                }
                later if !may_halt && !self.is_ending => {
                    self.mail.put_off(later);
                    continue;
                }
                Mail::Stop { stopped } => {
                    self.stopped.push(stopped);
                    Halt::Cancelled(Stopped::ByClient)
                }
                Mail::HubStops { settled } => {
                    self.stopped.push(settled);
                    self.when_the_hub_stops()
                }
                Mail::Moved => Halt::Lost,
            };
            if !self.is_ending {
                return Err(halt);
            }
        }
    }
}
