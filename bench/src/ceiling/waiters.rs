use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::oneshot;

/// Who waits for which name. One waiter a name: the ceiling wakes, it does not broadcast.
#[derive(Clone, Default)]
pub struct Waiters {
    names: Arc<Mutex<HashMap<String, WaitState>>>,
}

enum WaitState {
    Waiting(oneshot::Sender<()>),
    /// Woken before anybody waited: the next one to come does not wait.
    Woken,
}

impl Waiters {
    /// None when the name was woken already.
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
                // The one who waited may have hung up.
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
