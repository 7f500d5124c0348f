use std::sync::Arc;

use countersign_store::Store;

use super::letters::Letters;
use super::signal::Signal;

pub struct Peers {
    store: Arc<Store>,
    pub(super) letters: Letters,
}

impl Peers {
    pub fn new(store: Arc<Store>) -> Arc<Self> {
        Arc::new(Self { store, letters: Letters::default() })
    }

    /// Call it after the commit. Never waits and never fails; without peers it costs nothing.
    pub fn say(&self, signal: impl FnOnce() -> Signal) {
        if let Some(bus) = self.store.bus() {
            bus.say(signal().text(&self.store.node()));
        }
    }
}
