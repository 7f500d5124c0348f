//! Background tasks of the hub. A supervisor restarts a task that ends or panics: without expiry, an ask would wait
//! forever. A task that keeps failing ends the process, so that the supervisor of the process restarts it.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt;
use tokio::task::JoinSet;
use tokio::time::Instant;

use crate::Hub;
use crate::messages::cue_waiters;
use crate::process::TaskHealth;
use crate::{inbox, messages, node};

/// Doubled after every failure in a row.
const FIRST_RESTART_DELAY: Duration = Duration::from_secs(1);
/// Failures in a row that are followed by a restart: about a minute in all.
const MAX_RESTARTS: u32 = 6;
/// A task that ran this long has made progress: its next failure counts as the first.
const STABLE_AFTER: Duration = Duration::from_secs(60);

pub fn start(hub: &Arc<Hub>) -> JoinSet<()> {
    let mut tasks = JoinSet::new();
    add(&mut tasks, hub, "expiry", |hub| async move {
        messages::expire(&hub.messages).await
    });
    add(&mut tasks, hub, "undo", |hub| async move {
        messages::release(&hub.messages).await
    });
    add(&mut tasks, hub, "retention", |hub| async move {
        messages::purge(&hub.messages, hub.config.retention()).await
    });
    add(&mut tasks, hub, "deliveries", |hub| Arc::clone(&hub.outbox).sweep());
    add(&mut tasks, hub, "live events", inbox::events::run);
    add(&mut tasks, hub, "search index", |hub| {
        Arc::clone(&hub.background.indexer).run()
    });
    add(&mut tasks, hub, "receipts", |hub| {
        Arc::clone(&hub.background.receipts).run()
    });
    add(&mut tasks, hub, "agents last seen", |hub| {
        Arc::clone(&hub.background.agent_last_seen).run()
    });
    add(&mut tasks, hub, "terminals", |hub| async move {
        cue_waiters::run(&hub.cue_waiters, &hub.messages.waiters).await
    });
    add(&mut tasks, hub, "lease", node::lease);
    add(&mut tasks, hub, "signals of other nodes", node::subscribe);
    add(&mut tasks, hub, "reconciliation", node::reconcile);
    add(&mut tasks, hub, "runs of other nodes", |hub| {
        countersign_runs::watch(Arc::clone(&hub.runs))
    });
    tasks
}

fn add<F>(tasks: &mut JoinSet<()>, hub: &Arc<Hub>, name: &'static str, run: fn(Arc<Hub>) -> F)
where
    F: Future<Output = ()> + Send + 'static,
{
    tasks.spawn(supervise(name, Arc::clone(hub), |hub| &hub.process.tasks, run));
}

/// Returns when the task has failed for good.
async fn supervise<T, F>(name: &'static str, hub: Arc<T>, health: fn(&T) -> &TaskHealth, run: fn(Arc<T>) -> F)
where
    F: Future<Output = ()>,
{
    let mut failures = 0;
    loop {
        health(&hub).set_up(name);
        let started_at = Instant::now();
        // Unwind safe: poisoned locks are recovered, and shared state is never left half written.
        let ended = AssertUnwindSafe(run(Arc::clone(&hub))).catch_unwind().await;
        health(&hub).set_down(name);
        failures = if started_at.elapsed() < STABLE_AFTER {
            failures + 1
        } else {
            1
        };
        let panicked = ended.is_err();
        if failures > MAX_RESTARTS {
            tracing::error!(task = name, panicked, "background task keeps failing; stopping the hub");
            return health(&hub).set_failed(name);
        }
        tracing::error!(task = name, panicked, "background task ended unexpectedly; restarting");
        tokio::time::sleep(FIRST_RESTART_DELAY * 2_u32.pow(failures - 1)).await;
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering};

    use tokio::sync::Notify;

    use super::*;
    use crate::process::FailedForGood;

    #[derive(Default)]
    struct RestartProbe {
        runs: AtomicU32,
        succeeded: Notify,
        health: TaskHealth,
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
        tasks.spawn(supervise(
            "test",
            Arc::clone(&probe),
            |probe| &probe.health,
            fails_first,
        ));
        probe.succeeded.notified().await;
        assert_eq!(probe.runs.load(Ordering::SeqCst), 2);
        assert_eq!(probe.health.down(), [] as [&str; 0]);
        tasks.shutdown().await;
    }

    async fn always_fails(probe: Arc<RestartProbe>) {
        let runs = probe.runs.fetch_add(1, Ordering::SeqCst);
        assert_eq!(probe.health.down(), [] as [&str; 0], "a running task is not down");
        assert!(runs.is_multiple_of(2), "every second run panics, the others end");
    }

    #[tokio::test(start_paused = true)]
    async fn task_that_keeps_failing_fails_for_good() {
        let probe = Arc::new(RestartProbe::default());
        let supervised = supervise("test", Arc::clone(&probe), |probe| &probe.health, always_fails);
        tokio::spawn(supervised);
        assert_eq!(probe.health.failed().await, FailedForGood("test"));
        assert_eq!(probe.health.down(), ["test"]);
        assert_eq!(probe.runs.load(Ordering::SeqCst), 1 + MAX_RESTARTS);
    }

    async fn fails_after_progress(probe: Arc<RestartProbe>) {
        tokio::time::sleep(STABLE_AFTER).await;
        if probe.runs.fetch_add(1, Ordering::SeqCst) == 3 * MAX_RESTARTS {
            probe.succeeded.notify_one();
        }
    }

    #[tokio::test(start_paused = true)]
    async fn task_that_makes_progress_is_restarted_forever() {
        let probe = Arc::new(RestartProbe::default());
        let supervised = supervise("test", Arc::clone(&probe), |probe| &probe.health, fails_after_progress);
        tokio::spawn(supervised);
        probe.succeeded.notified().await;
        assert!(probe.health.failed().now_or_never().is_none());
    }
}
