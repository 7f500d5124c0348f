//! The background tasks that must live: which are down, and whether one has failed for good.

use std::collections::BTreeSet;
use std::sync::{Mutex, MutexGuard, PoisonError};

use tokio::sync::watch;

/// A part of the hub failed for good. The process has to be restarted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{0} failed for good; the hub has to be restarted")]
pub struct FailedForGood(pub &'static str);

#[derive(Default)]
pub struct TaskHealth {
    down: Mutex<BTreeSet<&'static str>>,
    failed: watch::Sender<Option<FailedForGood>>,
}

impl TaskHealth {
    pub fn set_up(&self, task: &'static str) {
        self.lock().remove(task);
    }

    pub fn set_down(&self, task: &'static str) {
        self.lock().insert(task);
    }

    pub fn set_failed(&self, task: &'static str) {
        self.failed.send_replace(Some(FailedForGood(task)));
    }

    /// The tasks that do not run at the moment.
    pub fn down(&self) -> Vec<&'static str> {
        self.lock().iter().copied().collect()
    }

    /// Resolves when a task has failed for good.
    pub async fn failed(&self) -> FailedForGood {
        let mut failed = self.failed.subscribe();
        loop {
            if let Some(failure) = *failed.borrow_and_update() {
                return failure;
            }
            if failed.changed().await.is_err() {
                return std::future::pending().await;
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, BTreeSet<&'static str>> {
        self.down.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
