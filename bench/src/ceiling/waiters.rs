use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::oneshot;

/// Who waits for which name. One waiter a name: the ceiling wakes, it does not broadcast.
#[derive(Clone, Default)]
pub struct Waiters {
    names: Arc<Mutex<HashMap<String, Name>>>,
}

enum Name {
    Awaited(oneshot::Sender<()>),
    /// Woken before anybody waited: the next one to come does not wait.
    Woken,
}

impl Waiters {
    /// None when the name was woken already.
    pub fn register(&self, name: String) -> Option<oneshot::Receiver<()>> {
        let (wake, woken) = oneshot::channel();
        match self.lock().insert(name, Name::Awaited(wake)) {
            Some(Name::Woken) => None,
            Some(Name::Awaited(_)) | None => Some(woken),
        }
    }

    pub fn wake(&self, name: String) {
        let mut names = self.lock();
        match names.remove(&name) {
            Some(Name::Awaited(wake)) => {
                // The one who waited may have hung up.
                let _ = wake.send(());
            }
            Some(Name::Woken) | None => {
                names.insert(name, Name::Woken);
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, Name>> {
        self.names.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
