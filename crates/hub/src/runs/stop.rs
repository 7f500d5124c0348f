//! stop_run, and what becomes of everything when the hub stops.

use std::sync::Arc;
use std::time::Duration;

use countersign_protocol::runs::ClientMessage;
use countersign_store::ops::run::Ending;
use futures_util::future::join_all;
use tokio::sync::oneshot;
use tokio::time::timeout;

use super::mail::Mail;
use super::run::{Run, Stage};
use super::task::{Stopped, cancelled};
use crate::app::Hub;
use crate::peers::{Reply, Unheard};

/// How long runs may take to settle, and then connections to read what is for them.
const SETTLE: Duration = Duration::from_secs(5);
const GO_HOME: Duration = Duration::from_secs(4);

impl Hub {
    /// Silent for a run that is over or not known. When it returns, the run is over, or will be once the store can say so.
    pub async fn stop_run(&self, run_id: &str) -> Result<(), Unheard> {
        if self.is_run_here(run_id).await {
            self.stop_run_here(run_id).await;
            return Ok(());
        }
        let stop = ClientMessage::StopRun {
            run_id: run_id.to_owned(),
        };
        match self.write_to_run(run_id, &stop).await? {
            Some(Reply::Done) | None => Ok(()),
            Some(Reply::Refused { .. } | Reply::Undone) => Err(Unheard::Undone),
        }
    }

    /// Whether it is prepared or under way here. One that is over here may go on elsewhere.
    pub(crate) fn is_under_way_here(&self, run_id: &str) -> bool {
        self.runs.get(run_id).is_some_and(|run| match run.lock().stage {
            Stage::Prepared(_) | Stage::Starting(_) | Stage::Running(_) => true,
            Stage::Elsewhere | Stage::Over { .. } | Stage::Forgotten => false,
        })
    }

    pub(crate) async fn stop_run_here(&self, run_id: &str) {
        let Some(run) = self.runs.get(run_id) else { return };
        if self.stop_prepared(&run, Stopped::ByClient) {
            return;
        }
        let Some(mailbox) = run.mailbox() else { return };
        let (stopped, done) = oneshot::channel();
        // A task that ends by itself drops both.
        let _ = mailbox.send(Mail::Stop { stopped }).await;
        let _ = timeout(SETTLE, done).await;
        // One that could not be started is prepared again.
        self.stop_prepared(&run, Stopped::ByClient);
    }

    /// Of a run that never began nothing is stored; one that was to be continued is what it was before.
    fn stop_prepared(&self, run: &Arc<Run>, stopped: Stopped) -> bool {
        let now = self.store.clock().now();
        self.runs.end(run, |run| {
            let mut state = run.lock();
            let Stage::Prepared(prepared) = &state.stage else {
                return false;
            };
            let (ending, at) = prepared.before.unwrap_or((Ending::Cancelled, now));
            state.stage = Stage::Over { ending, at };
            state.tell_early(&run.id, &cancelled(stopped), now);
            true
        })
    }

    /// Runs that wait for people stay as they are, unless the operator wants otherwise; then everybody is sent home.
    pub async fn stop_runs(&self) {
        self.runs.begin_closing();
        let runs = self.runs.all();
        let settled = join_all(runs.iter().map(|run| self.settle(run)));
        if timeout(SETTLE, settled).await.is_err() {
            tracing::warn!("some runs did not end in time and are cut");
        }
        if timeout(GO_HOME, self.runs.close_clients()).await.is_err() {
            tracing::warn!("some clients did not read in time and are cut");
        }
    }

    async fn settle(&self, run: &Arc<Run>) {
        if self.stop_prepared(run, Stopped::ByTheHub) {
            return;
        }
        let Some(mailbox) = run.mailbox() else { return };
        let (settled, done) = oneshot::channel();
        let _ = mailbox.send(Mail::HubStops { settled }).await;
        let _ = done.await;
    }
}
