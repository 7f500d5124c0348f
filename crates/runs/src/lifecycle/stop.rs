//! stop_run, and the shutdown of all runs when the node stops.

use std::sync::Arc;
use std::time::Duration;

use countersign_protocol::runs::ClientMessage;
use countersign_store::ops::run::RunEnding;
use futures_util::future::join_all;
use tokio::sync::oneshot;
use tokio::time::timeout;

use crate::engine::commands::RunCommand;
use crate::engine::task::{Stopped, cancelled};
use crate::remote::commands::{CommandFailure, CommandReply};
use crate::run::{RunStage, TrackedRun};
use crate::service::RunService;

/// Time for runs to settle, and then for connections to read their last frames.
const SETTLE_TIMEOUT: Duration = Duration::from_secs(5);
const CLOSE_TIMEOUT: Duration = Duration::from_secs(4);

impl RunService {
    /// Succeeds for an ended or unknown run too. On return the run has ended, or will end as soon as the store accepts
    /// it.
    pub async fn stop_run(self: &Arc<Self>, run_id: &str) -> Result<(), CommandFailure> {
        if self.is_run_local(run_id).await {
            self.stop_local_run(run_id).await;
            return Ok(());
        }
        let stop = ClientMessage::StopRun {
            run_id: run_id.to_owned(),
        };
        match self.send_run_command(run_id, &stop).await? {
            Some(CommandReply::Done) | None => Ok(()),
            Some(CommandReply::Refused(_) | CommandReply::NotApplied) => Err(CommandFailure::NotApplied {
                run_id: run_id.to_owned(),
            }),
        }
    }

    /// True if the run is prepared or running here. A run that ended here may have been continued by another node.
    pub(crate) fn is_active_here(&self, run_id: &str) -> bool {
        self.registry.get(run_id).is_some_and(|run| match run.lock().stage {
            RunStage::Prepared(_) | RunStage::Starting(_) | RunStage::Running(_) => true,
            RunStage::Remote | RunStage::Over { .. } | RunStage::Forgotten => false,
        })
    }

    pub(crate) async fn stop_local_run(self: &Arc<Self>, run_id: &str) {
        let Some(run) = self.registry.get(run_id) else { return };
        if self.stop_prepared(&run, Stopped::ByClient) {
            return;
        }
        let Some(command_sender) = run.command_sender() else {
            return;
        };
        let (stopped, done) = oneshot::channel();
        // A task that ends on its own drops both channels.
        let _ = command_sender.send(RunCommand::Stop { stopped }).await;
        let _ = timeout(SETTLE_TIMEOUT, done).await;
        // A start that failed leaves the run prepared again.
        self.stop_prepared(&run, Stopped::ByClient);
    }

    /// Ends a prepared run. Nothing is stored; a continuation goes back to its earlier end.
    fn stop_prepared(&self, run: &Arc<TrackedRun>, stopped: Stopped) -> bool {
        let now = self.store.clock().now();
        self.registry.end(run, |run| {
            let mut state = run.lock();
            let RunStage::Prepared(prepared) = &state.stage else {
                return false;
            };
            let (ending, at) = prepared.before.unwrap_or((RunEnding::Cancelled, now));
            state.stage = RunStage::Over { ending, at };
            state.broadcast_early(&run.id, &cancelled(stopped), now);
            true
        })
    }

    /// Suspends runs that wait for people, or cancels them if `on_stop` says so; then closes all connections.
    pub async fn stop_runs(self: &Arc<Self>) {
        self.registry.begin_closing();
        let runs = self.registry.all();
        let settled = runs.iter().map(async |run| {
            if timeout(SETTLE_TIMEOUT, self.settle(run)).await.is_err() {
                tracing::warn!(
                    run_id = run.id,
                    "run did not settle before shutdown and was interrupted"
                );
            }
        });
        join_all(settled).await;
        if timeout(CLOSE_TIMEOUT, self.registry.close_clients()).await.is_err() {
            tracing::warn!("some run clients did not close before shutdown and were disconnected");
        }
    }

    async fn settle(self: &Arc<Self>, run: &Arc<TrackedRun>) {
        if self.stop_prepared(run, Stopped::ByTheHub) {
            return;
        }
        let Some(command_sender) = run.command_sender() else {
            return;
        };
        let (settled, done) = oneshot::channel();
        let _ = command_sender.send(RunCommand::HubStops { settled }).await;
        let _ = done.await;
    }
}
