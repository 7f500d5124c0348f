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
                self.buffer_event(&event);
                self.store_end(RunEnding::Completed).await;
            }
            Halt::Failed(message) => {
                self.buffer_event(&error(EXECUTION_ERROR, message));
                self.store_end(RunEnding::Error).await;
            }
            Halt::Cancelled(stopped) => {
                self.event_buffer.forget_request_id();
                self.buffer_event(&cancelled(stopped));
                self.store_end(RunEnding::Cancelled).await;
            }
            Halt::Suspended => tracing::debug!(run_id = self.run.id, "run suspended until the next start"),
            Halt::OwnershipLost => self.on_ownership_lost(None),
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
            let run_id = self.run.id.clone();
            // On a store error, the guarded write that follows is refused.
            if let Ok(Some(found)) = self.service.store.run(ReadRun { run_id }).await
                && found.node != self.event_buffer.node()
            {
                return self.on_ownership_lost(Some(&found.node));
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
        match self.store_buffered_events(RunPhase::Between, end).await {
            Ok(update) => self.service.registry.end(&self.run, |run| run.end(ending, at, update)),
            Err(Halt::OwnershipLost) => return self.on_ownership_lost(None),
            Err(_) => {
                tracing::error!(
                    run_id = self.run.id,
                    "storing the end of a run failed; following it as a replica"
                );
                return self.service.become_replica(&self.run);
            }
        };
        self.service.host.run_advanced(&self.run.id);
        tracing::debug!(run_id = self.run.id, ending = ending.status().as_str(), "run ended");
    }

    /// Another node owns or ended the run; it becomes a replica here. The store is not asked for the owner, because
    /// ownership is lost mostly around an outage of the store.
    fn on_ownership_lost(&self, owner: Option<&str>) {
        self.service.become_replica(&self.run);
        let node = self.event_buffer.node();
        tracing::warn!(run_id = self.run.id, node, owner, "run ownership lost to another node");
    }
}
