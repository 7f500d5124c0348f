//! What other hubs said.

use std::sync::Arc;

use countersign_protocol::id::MessageId;
use countersign_store::Word;
use tokio::sync::mpsc;

use super::letters;
use super::signal::Signal;
use crate::app::Hub;
use crate::inbox::news::Change;

/// What was heard and not dealt with.
const UNHEARD: usize = 1024;

/// Runs until it is dropped; without peers it waits for ever.
pub async fn run(hub: Arc<Hub>) {
    let Some(bus) = hub.store.bus() else {
        return std::future::pending().await;
    };
    let (heard, mut words) = mpsc::channel(UNHEARD);
    let listening = async {
        while let Some(word) = words.recv().await {
            match word {
                Word::Said(text) => hub.heard(&text),
                Word::Missed => hub.look_at_everything(),
            }
        }
    };
    tokio::join!(bus.run(&heard), listening);
}

impl Hub {
    fn heard(self: &Arc<Self>, text: &str) {
        match Signal::read(text) {
            Some((node, signal)) if node != self.store.node() => self.act_on(node, signal),
            Some(_) => {}
            None => tracing::debug!("another hub said something that this one does not know"),
        }
    }

    fn act_on(self: &Arc<Self>, node: &str, signal: Signal) {
        match signal {
            Signal::Changed(change) => self.news.tell_here(change),
            Signal::Resolved { id, run } => self.resolved_elsewhere(&id, run.as_deref()),
            Signal::Credentials => self.credentials.clear(),
            Signal::Here { id, kind, since, held } => self.terminals.is_elsewhere(node, &id, kind, since, held),
            Signal::Away { id, at, broken } => self.terminals.left_elsewhere(node, &id, at, broken),
            Signal::NoCue(id) => self.terminals.taken_back_elsewhere(node, &id),
            Signal::Advanced(run_id) => self.advanced_elsewhere(&run_id),
            Signal::Letter => letters::open(self),
            Signal::Answered { letter, reply } => {
                self.peers.letters.answered(letter, reply);
            }
            Signal::Gone(gone) => self.are_gone(&[gone]),
            Signal::Hello => self.terminals.say_again(),
        }
    }

    /// As `announce`, for what another hub has announced.
    pub(super) fn resolved_elsewhere(&self, id: &MessageId, run_id: Option<&str>) {
        self.terminals.end(id);
        if let Some(run_id) = run_id {
            self.runs.resolved_elsewhere(run_id, id, self.store.clock().now());
        }
        self.wake.look(id);
        if self.peers.is_news(id) {
            self.news.tell_here(Change::Resolved(id.clone()));
        }
    }

    /// Other hubs were found to be gone. Everybody is to know of it: their last words may not have been heard anywhere.
    pub(super) fn found_gone(self: &Arc<Self>, nodes: &[String]) {
        nodes
            .iter()
            .for_each(|node| self.peers.say(|| Signal::Gone(node.clone())));
        self.are_gone(nodes);
    }

    /// What the others have in memory is not lost with it, so nobody has to say anything again.
    fn are_gone(self: &Arc<Self>, nodes: &[String]) {
        nodes.iter().for_each(|node| self.terminals.gone_elsewhere(node));
        self.look_again();
    }

    /// Anything may have happened that was not heard.
    pub(super) fn look_at_everything(self: &Arc<Self>) {
        self.look_again();
        self.terminals.say_again();
        self.peers.say(|| Signal::Hello);
    }

    /// The same, of what is in the store.
    pub(super) fn look_again(self: &Arc<Self>) {
        self.credentials.clear();
        self.wake.look_all();
        self.news.miss();
        self.runs.ring_mirrors();
        letters::open(self);
    }
}
