use std::sync::Arc;
use std::time::Duration;

use countersign_protocol::id::MessageId;
use countersign_store::Store;

use super::seen::DedupWindow;
use super::signal::Signal;

/// Longer than the look-back of the reconciliation, so that a late round does not announce a message twice.
const DEDUP_TTL: Duration = Duration::from_secs(120);

pub struct Cluster {
    store: Arc<Store>,
    /// Resolved messages that were already announced on this hub.
    pub(crate) notified: DedupWindow,
}

impl Cluster {
    pub fn new(store: Arc<Store>) -> Arc<Self> {
        let notified = DedupWindow::with_ttl(DEDUP_TTL);
        Arc::new(Self { store, notified })
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

    /// Makes every node resync, this one included.
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
