//! What runs beside the requests until the hub stops. A task that fails must not end unnoticed: without expiry, an ask
//! would wait for ever.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt;
use tokio::task::JoinSet;

use crate::app::Hub;
use crate::inbox::news;
use crate::{indexer, peers, presence, receipts, runs, terminals, timers};

const BEFORE_ANOTHER_TRY: Duration = Duration::from_secs(1);

pub fn start(hub: &Arc<Hub>) -> JoinSet<()> {
    let mut tasks = JoinSet::new();
    let hub = || Arc::clone(hub);
    tasks.spawn(keep("expiry", hub(), timers::expire));
    tasks.spawn(keep("retention", hub(), timers::purge));
    tasks.spawn(keep("news", hub(), news::run));
    tasks.spawn(keep("search index", hub(), indexer::run));
    tasks.spawn(keep("receipts", hub(), receipts::run));
    tasks.spawn(keep("presence", hub(), presence::run));
    tasks.spawn(keep("terminals", hub(), terminals::run));
    tasks.spawn(keep("lease", hub(), peers::lease));
    tasks.spawn(keep("peers", hub(), peers::hear));
    tasks.spawn(keep("net", hub(), peers::net));
    tasks.spawn(keep("runs of others", hub(), runs::watch));
    tasks
}

async fn keep<T, F: Future<Output = ()>>(name: &'static str, hub: Arc<T>, run: fn(Arc<T>) -> F) {
    loop {
        // What it shared stays as sound as after any other error: locks are taken over, and nothing is half written.
        match AssertUnwindSafe(run(Arc::clone(&hub))).catch_unwind().await {
            Ok(()) => tracing::error!(task = name, "ended by itself; it starts again"),
            Err(panic) => {
                let said = panic.downcast_ref::<String>().map(String::as_str);
                let said = said
                    .or_else(|| panic.downcast_ref::<&str>().copied())
                    .unwrap_or("nothing");
                tracing::error!(task = name, said, "panicked; it starts again");
            }
        }
        tokio::time::sleep(BEFORE_ANOTHER_TRY).await;
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use tokio::sync::Notify;

    use super::*;

    #[derive(Default)]
    struct Scene {
        runs: AtomicUsize,
        goes_well: Notify,
    }

    async fn fails_first(scene: Arc<Scene>) {
        assert!(
            scene.runs.fetch_add(1, Ordering::SeqCst) > 0,
            "the first time goes wrong"
        );
        scene.goes_well.notify_one();
        std::future::pending().await
    }

    #[tokio::test]
    async fn a_task_that_panics_starts_again() {
        let scene = Arc::new(Scene::default());
        let mut tasks = JoinSet::new();
        tasks.spawn(keep("test", Arc::clone(&scene), fails_first));
        scene.goes_well.notified().await;
        assert_eq!(scene.runs.load(Ordering::SeqCst), 2);
        tasks.shutdown().await;
    }
}
