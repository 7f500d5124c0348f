use std::sync::Arc;

use countersign_protocol::id::MessageId;
use countersign_store::Store;

use super::known::DedupWindow;
use super::net::DEDUP_TTL;
use super::post::CommandTracker;
use super::signal::Signal;

pub struct Cluster {
    store: Arc<Store>,
    pub(super) commands: CommandTracker,
    /// What is over and was told here.
    pub(super) notified: DedupWindow,
}

impl Cluster {
    pub fn new(store: Arc<Store>) -> Arc<Self> {
        let commands = CommandTracker::default();
        let notified = DedupWindow::with_ttl(DEDUP_TTL);
        Arc::new(Self {
            store,
            commands,
            notified,
        })
    }

    /// Whether it was not told here before that a message is over. Without peers nobody else could have.
    pub fn is_first_notice(&self, notified: &MessageId) -> bool {
        self.store.bus().is_none() || self.notified.insert(notified)
    }

    /// Call it after the commit. Never waits and never fails; without peers it costs nothing.
    pub fn publish(&self, signal: impl FnOnce() -> Signal) {
        if let Some(bus) = self.store.bus() {
            bus.publish(signal().text(&self.store.node()));
        }
    }

    /// Every hub is to look at everything, this one too.
    pub fn publish_resync(&self) {
        if let Some(bus) = self.store.bus() {
            bus.publish_gap();
        }
    }

    /// What was said so far is sent, or it takes too long.
    pub async fn flush(&self) {
        if let Some(bus) = self.store.bus() {
            bus.flush().await;
        }
    }
}
