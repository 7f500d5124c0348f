use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::oneshot;

/// The long-poll waiters by name. Each name has one waiter: the ceiling wakes it and does not broadcast.
#[derive(Clone, Default)]
pub struct Waiters {
    names: Arc<Mutex<HashMap<String, WaitState>>>,
}

enum WaitState {
    Waiting(oneshot::Sender<()>),
    /// The wake-up came before the waiter, so the next waiter returns at once.
    Woken,
}

impl Waiters {
    /// Returns `None` when the name was woken already.
    pub fn register(&self, name: String) -> Option<oneshot::Receiver<()>> {
        let (wake, woken) = oneshot::channel();
        match self.lock().insert(name, WaitState::Waiting(wake)) {
            Some(WaitState::Woken) => None,
            Some(WaitState::Waiting(_)) | None => Some(woken),
        }
    }

    pub fn wake(&self, name: String) {
        let mut names = self.lock();
        match names.remove(&name) {
            Some(WaitState::Waiting(wake)) => {
                // Fails only when the waiter has disconnected.
                let _ = wake.send(());
            }
            Some(WaitState::Woken) | None => {
                names.insert(name, WaitState::Woken);
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, WaitState>> {
        self.names.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
