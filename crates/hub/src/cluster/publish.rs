use std::sync::Arc;

use countersign_protocol::id::MessageId;
use countersign_store::Store;

use super::reconcile::DEDUP_TTL;
use super::replies::CommandTracker;
use super::seen::DedupWindow;
use super::signal::Signal;

pub struct Cluster {
    store: Arc<Store>,
    pub(super) commands: CommandTracker,
    /// Resolved messages that were already announced on this hub.
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

    /// Returns true if the resolution of this message was not announced here before. Always true on an unshared store.
    pub fn is_first_notice(&self, notified: &MessageId) -> bool {
        self.store.bus().is_none() || self.notified.insert(notified)
    }

    /// Call this after the commit. It never blocks and never fails, and costs nothing on an unshared store.
    pub fn publish(&self, signal: impl FnOnce() -> Signal) {
        if let Some(bus) = self.store.bus() {
            bus.publish(signal().text(&self.store.node()));
        }
    }

    /// Makes every hub resync, this one included.
    pub fn publish_resync(&self) {
        if let Some(bus) = self.store.bus() {
            bus.publish_gap();
        }
    }

    /// Waits until all published signals are sent, or a timeout.
    pub async fn flush(&self) {
        if let Some(bus) = self.store.bus() {
            bus.flush().await;
        }
    }
}
