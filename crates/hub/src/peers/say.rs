use std::sync::Arc;

use countersign_protocol::id::MessageId;
use countersign_store::Store;

use super::known::Known;
use super::net::KNOWN_FOR;
use super::post::Post;
use super::signal::Signal;

pub struct Peers {
    store: Arc<Store>,
    pub(super) letters: Post,
    /// What is over and was told here.
    pub(super) resolved: Known,
}

impl Peers {
    pub fn new(store: Arc<Store>) -> Arc<Self> {
        let letters = Post::default();
        let resolved = Known::for_at_least(KNOWN_FOR);
        Arc::new(Self {
            store,
            letters,
            resolved,
        })
    }

    /// Whether it was not told here before that a message is over. Without peers nobody else could have.
    pub fn is_news(&self, resolved: &MessageId) -> bool {
        self.store.bus().is_none() || self.resolved.note(resolved)
    }

    /// Call it after the commit. Never waits and never fails; without peers it costs nothing.
    pub fn say(&self, signal: impl FnOnce() -> Signal) {
        if let Some(bus) = self.store.bus() {
            bus.say(signal().text(&self.store.node()));
        }
    }

    /// Every hub is to look at everything, this one too.
    pub fn say_everything(&self) {
        if let Some(bus) = self.store.bus() {
            bus.say_everything();
        }
    }

    /// What was said so far is sent, or it takes too long.
    pub async fn flush(&self) {
        if let Some(bus) = self.store.bus() {
            bus.flush().await;
        }
    }
}
