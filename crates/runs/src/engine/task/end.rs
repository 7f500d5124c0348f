//! The end of a segment.

use countersign_protocol::runs::{Event, RunError};
use countersign_store::ops::run::{Advance, EndRun, ReadRun, RunEnding, RunPhase};

use super::{Halt, RunTask, Stopped};

const EXECUTION_ERROR: &str = "EXECUTION_ERROR";
const CANCELLED: &str = "CANCELLED";
const DAEMON_RESTARTED: &str = "DAEMON_RESTARTED";

/// The event of a cancelled run.
pub fn cancelled(stopped: Stopped) -> Event {
    let message = match stopped {
        Stopped::ByClient => "Run cancelled by client",
        Stopped::ByTheHub => "Run cancelled because the hub was stopped",
    };
    error(CANCELLED, message.to_owned())
}

/// The event of a run whose agent was interrupted by a restart.
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

impl RunTask {
    pub(crate) async fn end(mut self, halt: Halt) {
        self.is_ending = true;
        match halt {
            Halt::Completed(output) => {
                let event = Event::StrategyCompleted {
                    result: output.text,
                    usage: output.usage,
                };
                self.note(&event);
                self.store_end(RunEnding::Completed).await;
            }
            Halt::Failed(message) => {
                self.note(&error(EXECUTION_ERROR, message));
                self.store_end(RunEnding::Error).await;
            }
            Halt::Cancelled(stopped) => {
                self.event_buffer.forget_request_id();
                self.note(&cancelled(stopped));
                self.store_end(RunEnding::Cancelled).await;
            }
            Halt::Suspended => tracing::debug!(run_id = self.run.id, "run suspended until the next start"),
            Halt::OwnershipLost => self.on_ownership_lost().await,
        }
        self.service.host.run_changed(&self.run.id);
        for stopped in self.stopped.drain(..) {
            // The client that stopped the run may have disconnected.
            let _ = stopped.send(());
        }
    }

    /// Cancels open asks first: after a crash in between, the cancelled ask ends the run.
    async fn store_end(&mut self, ending: RunEnding) {
        // Asks of a new owner must not be cancelled.
        if !self.open.is_empty() && self.service.store.is_shared() {
            // On a store error, the guarded write that follows is refused.
            let owner = self.owner().await;
            if owner.is_some_and(|owner| owner != self.event_buffer.node()) {
                return self.on_ownership_lost().await;
            }
        }
        self.cancel_asks().await;
        let at = self.now();
        let mut body = None;
        if self.checkpoint.policy != self.segment.policy {
            // The next segment starts with this policy.
            self.segment.policy.clone_from(&self.checkpoint.policy);
            body = self.plan.body(&self.segment).ok();
        }
        let end = |advance| EndRun {
            advance: Advance {
                body: body.clone(),
                ..advance
            },
            ending,
            at,
        };
        match self.store(RunPhase::Between, end).await {
            Ok(update) => self.service.registry.end(&self.run, |run| run.end(ending, at, update)),
            Err(_) => return self.on_ownership_lost().await,
        };
        self.service.host.run_advanced(&self.run.id);
        tracing::debug!(run_id = self.run.id, ending = ending.status().as_str(), "run ended");
    }

    /// The node that owns the run in the store, if it can be read.
    async fn owner(&self) -> Option<String> {
        let run_id = self.run.id.clone();
        let found = self.service.store.run(ReadRun { run_id }).await;
        found.ok().flatten().map(|run| run.node)
    }

    /// Another hub owns or ended the run; it becomes a replica here.
    async fn on_ownership_lost(&self) {
        self.service.become_replica(&self.run);
        let node = self.event_buffer.node();
        let owner = self.owner().await;
        tracing::warn!(run_id = self.run.id, node, owner, "run ownership lost to another hub");
    }
}
