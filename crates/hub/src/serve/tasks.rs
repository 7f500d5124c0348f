//! Background tasks of the hub. A supervisor restarts a task that ends or panics: without expiry, an ask would wait
//! forever.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt;
use tokio::task::JoinSet;

use crate::app::Hub;
use crate::background::{agent_last_seen, indexer, receipts, timers};
use crate::live;
use crate::{cluster, cue_waiters, runs};

const RESTART_DELAY: Duration = Duration::from_secs(1);

pub fn start(hub: &Arc<Hub>) -> JoinSet<()> {
    let mut tasks = JoinSet::new();
    let hub = || Arc::clone(hub);
    tasks.spawn(supervise("expiry", hub(), timers::expire));
    tasks.spawn(supervise("retention", hub(), timers::purge));
    tasks.spawn(supervise("news", hub(), live::run));
    tasks.spawn(supervise("search index", hub(), indexer::run));
    tasks.spawn(supervise("receipts", hub(), receipts::run));
    tasks.spawn(supervise("presence", hub(), agent_last_seen::run));
    tasks.spawn(supervise("terminals", hub(), cue_waiters::run));
    tasks.spawn(supervise("lease", hub(), cluster::lease));
    tasks.spawn(supervise("peers", hub(), cluster::hear));
    tasks.spawn(supervise("net", hub(), cluster::net));
    tasks.spawn(supervise("runs of others", hub(), runs::watch));
    tasks
}

async fn supervise<T, F: Future<Output = ()>>(name: &'static str, hub: Arc<T>, run: fn(Arc<T>) -> F) {
    loop {
        // Unwind safe: poisoned locks are recovered, and shared state is never left half written.
        match AssertUnwindSafe(run(Arc::clone(&hub))).catch_unwind().await {
            Ok(()) => tracing::error!(task = name, "background task ended unexpectedly; restarting"),
            Err(panic) => {
                let said = panic.downcast_ref::<String>().map(String::as_str);
                let said = said
                    .or_else(|| panic.downcast_ref::<&str>().copied())
                    .unwrap_or("no message");
                tracing::error!(task = name, said, "background task panicked; restarting");
            }
        }
        tokio::time::sleep(RESTART_DELAY).await;
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use tokio::sync::Notify;

    use super::*;

    #[derive(Default)]
    struct RestartProbe {
        runs: AtomicUsize,
        succeeded: Notify,
    }

    async fn fails_first(probe: Arc<RestartProbe>) {
        assert!(probe.runs.fetch_add(1, Ordering::SeqCst) > 0, "the first run panics");
        probe.succeeded.notify_one();
        std::future::pending().await
    }

    #[tokio::test]
    async fn panicking_task_is_restarted() {
        let probe = Arc::new(RestartProbe::default());
        let mut tasks = JoinSet::new();
        tasks.spawn(supervise("test", Arc::clone(&probe), fails_first));
        probe.succeeded.notified().await;
        assert_eq!(probe.runs.load(Ordering::SeqCst), 2);
        tasks.shutdown().await;
    }
}
