//! Storing what the run came to, then telling it.

use std::future::Future;
use std::time::Duration;

use countersign_store::StoreError;
use countersign_store::ops::run::{Advance, Phase};

use super::state::{Halt, Task};
use crate::runs::telling::News;

const FIRST_PAUSE: Duration = Duration::from_millis(100);
const LONGEST_PAUSE: Duration = Duration::from_secs(5);

impl Task {
    pub(super) async fn commit(&mut self, phase: Phase) -> Result<(), Halt> {
        let (advance, news) = self.close(phase)?;
        self.keep(|| self.hub.store.run(advance.clone())).await?;
        self.run.tell(news);
        Ok(())
    }

    pub(super) fn close(&mut self, phase: Phase) -> Result<(Advance, News), Halt> {
        let machine = self.standing.text().map_err(|error| Halt::Failed(error.to_string()))?;
        self.phase = phase;
        Ok(self.ledger.close(phase, machine))
    }

    /// A run that cannot be stored waits until it can: nobody may hear what a restart would not know.
    pub(super) async fn keep<F>(&self, attempt: impl Fn() -> F) -> Result<(), Halt>
    where
        F: Future<Output = Result<bool, StoreError>>,
    {
        let mut pause = FIRST_PAUSE;
        loop {
            match attempt().await {
                Ok(true) => {
                    self.hub.indexer.active();
                    return Ok(());
                }
                Ok(false) => return Err(Halt::Lost),
                Err(error) => {
                    tracing::error!(run_id = self.run.id, %error, "a run could not be stored; it tries again")
                }
            }
            tokio::time::sleep(pause).await;
            pause = (pause * 2).min(LONGEST_PAUSE);
        }
    }
}
