//! Background tasks of the hub. A supervisor restarts a task that ends or panics: without expiry, an ask would wait
//! forever.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt;
use tokio::task::JoinSet;

use crate::Hub;
use crate::messages::cue_waiters;
use crate::{inbox, messages, node};

const RESTART_DELAY: Duration = Duration::from_secs(1);

pub fn start(hub: &Arc<Hub>) -> JoinSet<()> {
    let mut tasks = JoinSet::new();
    let hub = || Arc::clone(hub);
    tasks.spawn(supervise("expiry", hub(), |hub: Arc<Hub>| async move {
        messages::expire(&hub.messages).await
    }));
    tasks.spawn(supervise("retention", hub(), |hub: Arc<Hub>| async move {
        messages::purge(&hub.messages, hub.config.retention()).await
    }));
    tasks.spawn(supervise("live events", hub(), |hub: Arc<Hub>| async move {
        inbox::events::run(hub).await
    }));
    tasks.spawn(supervise("search index", hub(), |hub: Arc<Hub>| async move {
        hub.background.indexer.run().await
    }));
    tasks.spawn(supervise("receipts", hub(), |hub: Arc<Hub>| async move {
        hub.background.receipts.run().await
    }));
    tasks.spawn(supervise("agents last seen", hub(), |hub: Arc<Hub>| async move {
        hub.background.agent_last_seen.run().await
    }));
    tasks.spawn(supervise("terminals", hub(), |hub: Arc<Hub>| async move {
        cue_waiters::run(&hub.cue_waiters).await
    }));
    tasks.spawn(supervise("lease", hub(), node::lease));
    tasks.spawn(supervise("signals of other nodes", hub(), |hub: Arc<Hub>| async move {
        node::subscribe(hub).await
    }));
    tasks.spawn(supervise("reconciliation", hub(), |hub: Arc<Hub>| async move {
        node::reconcile(hub).await
    }));
    tasks.spawn(supervise("runs of other nodes", hub(), |hub: Arc<Hub>| async move {
        countersign_runs::watch(Arc::clone(&hub.runs)).await
    }));
    tasks
}

async fn supervise<T, F>(name: &'static str, hub: Arc<T>, run: fn(Arc<T>) -> F)
where
    F: Future<Output = ()>,
{
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
