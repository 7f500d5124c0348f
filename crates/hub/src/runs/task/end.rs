//! The end of a segment.

use std::sync::Arc;

use countersign_protocol::runs::{Event, RunError};
use countersign_store::ops::run::{EndRun, Ending, LookAtRun, Phase};

use super::state::{Halt, Stopped, Task};
use crate::inbox::news::Change;

const EXECUTION_ERROR: &str = "EXECUTION_ERROR";
const CANCELLED: &str = "CANCELLED";
const DAEMON_RESTARTED: &str = "DAEMON_RESTARTED";

/// It was stopped, and by whom.
pub fn cancelled(stopped: Stopped) -> Event {
    let message = match stopped {
        Stopped::ByClient => "Run cancelled by client",
        Stopped::ByTheHub => "Run cancelled because the hub was stopped",
    };
    error(CANCELLED, message.to_owned())
}

/// The hub went away while an agent was at work.
pub fn restarted(message: String) -> Event {
    error(DAEMON_RESTARTED, message)
}

fn error(code: &str, message: String) -> Event {
    Event::StrategyError {
        error: RunError {
            code: code.to_owned(),
            message,
        },
    }
}

impl Task {
    pub(super) async fn end(mut self, halt: Halt) {
        self.is_ending = true;
        match halt {
            Halt::Completed(output) => {
                let event = Event::StrategyCompleted {
                    result: output.text,
                    usage: output.usage,
                };
                self.note(&event);
                self.store_end(Ending::Completed).await;
            }
            Halt::Failed(message) => {
                self.note(&error(EXECUTION_ERROR, message));
                self.store_end(Ending::Error).await;
            }
            Halt::Cancelled(stopped) => {
                let now = self.now();
                self.ledger.add_unasked(&cancelled(stopped), now);
                self.store_end(Ending::Cancelled).await;
            }
            Halt::Left => tracing::debug!(run_id = self.run.id, "a run waits for the next start"),
            Halt::Lost => self.lost(),
        }
        self.hub.news.tell(Change::Run(self.run.id.clone()));
        for stopped in self.stopped.drain(..) {
            // Who stopped it may be gone.
            let _ = stopped.send(());
        }
    }

    /// What people were asked goes first: after a crash in between, the cancelled ask ends the run.
    async fn store_end(&mut self, ending: Ending) {
        // Unless they are another hub's by now.
        if !self.open.is_empty() && self.is_elsewhere().await {
            return self.lost();
        }
        self.cancel_asks().await;
        let at = self.now();
        let Ok((mut advance, news)) = self.close(Phase::Between) else {
            return self.lost();
        };
        if self.standing.policy != self.segment.policy {
            // The next segment begins with it.
            self.segment.policy.clone_from(&self.standing.policy);
            advance.body = self.plan.body(&self.segment).ok();
        }
        let end = EndRun { advance, ending, at };
        let hub = Arc::clone(&self.hub);
        match self.keep(|| hub.store.run(end.clone())).await {
            Ok(()) => self.hub.runs.end(&self.run, |run| run.end(ending, at, news)),
            Err(_) => return self.lost(),
        };
        self.tell_peers();
        tracing::debug!(run_id = self.run.id, ending = ending.status().as_str(), "a run ended");
    }

    async fn is_elsewhere(&self) -> bool {
        if !self.hub.store.is_shared() {
            return false;
        }
        let found = self
            .hub
            .store
            .run(LookAtRun {
                run_id: self.run.id.clone(),
            })
            .await;
        // Should the store not say, the end that follows will be refused.
        matches!(found, Ok(Some(run)) if run.node != self.ledger.node())
    }

    /// Another hub moves it, or ended it: from here on it is followed like any other of theirs.
    fn lost(&self) {
        tracing::warn!(run_id = self.run.id, "a run is another hub's now");
        self.hub.moved_elsewhere(&self.run);
    }
}
