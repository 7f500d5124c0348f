//! Signals from the other hubs: subscribing to the bus and acting on each signal.

use std::sync::Arc;

use countersign_protocol::id::MessageId;
use countersign_store::Notification;
use tokio::sync::mpsc;

use super::run_commands;
use super::signal::Signal;
use crate::app::Hub;
use crate::live::LiveChange;

/// Notifications received from the bus and not yet handled.
const NOTIFICATION_QUEUE_CAPACITY: usize = 1024;

/// Runs until dropped. On an unshared store it stays pending.
pub async fn run(hub: Arc<Hub>) {
    let Some(bus) = hub.store.bus() else {
        return std::future::pending().await;
    };
    let (sender, mut words) = mpsc::channel(NOTIFICATION_QUEUE_CAPACITY);
    let listening = async {
        while let Some(word) = words.recv().await {
            match word {
                Notification::Message(text) => hub.handle_notification(&text),
                Notification::Gap => hub.resync_everything(),
            }
        }
    };
    tokio::join!(bus.run(&sender), listening);
}

impl Hub {
    fn handle_notification(self: &Arc<Self>, text: &str) {
        match Signal::read(text) {
            Some((node, signal)) if node != self.store.node() => self.handle_signal(node, signal),
            Some(_) => {}
            None => tracing::debug!("unknown signal from another hub ignored; it may run a newer version"),
        }
    }

    fn handle_signal(self: &Arc<Self>, node: &str, signal: Signal) {
        match signal {
            Signal::Changed(change) => self.news.publish_local(change),
            Signal::Resolved { id, run } => self.resolved_remotely(&id, run.as_deref()),
            Signal::Credentials => self.credentials.clear(),
            Signal::Here { id, kind, since, held } => self.cue_waiters.remote_waiting(node, &id, kind, since, held),
            Signal::Away { id, at, broken } => self.cue_waiters.remote_left(node, &id, at, broken),
            Signal::NoCue(id) => self.cue_waiters.remote_withdrawn(node, &id),
            Signal::Advanced(run_id) => self.on_remote_advance(&run_id),
            Signal::Letter => run_commands::process_pending(self),
            Signal::Answered { letter, reply } => {
                self.cluster.commands.reply_arrived(letter, reply);
            }
            Signal::Gone(gone) => self.forget_nodes(&[gone]),
            Signal::Hello => self.cue_waiters.publish_all(),
        }
    }

    /// The counterpart of `announce` for a message that was resolved through another hub.
    pub(super) fn resolved_remotely(&self, id: &MessageId, run_id: Option<&str>) {
        self.cue_waiters.cue_ended(id);
        if let Some(run_id) = run_id {
            self.runs.resolved_remotely(run_id, id, self.store.clock().now());
        }
        self.waiters.invalidate(id);
        if self.cluster.is_first_notice(id) {
            self.news.publish_local(LiveChange::Resolved(id.clone()));
        }
    }

    /// Handles nodes whose lease ran out. Every hub is told, because the last signals of a dead node may be lost.
    pub(super) fn nodes_gone(self: &Arc<Self>, nodes: &[String]) {
        nodes
            .iter()
            .for_each(|node| self.cluster.publish(|| Signal::Gone(node.clone())));
        self.forget_nodes(nodes);
    }

    /// Drops the state learned from these nodes. The surviving hubs still have their own, so no `Hello` is needed.
    fn forget_nodes(self: &Arc<Self>, nodes: &[String]) {
        nodes.iter().for_each(|node| self.cue_waiters.remote_node_gone(node));
        self.resync_from_store();
    }

    /// Full resync after a gap in the notifications.
    pub(super) fn resync_everything(self: &Arc<Self>) {
        self.resync_from_store();
        self.cue_waiters.publish_all();
        self.cluster.publish(|| Signal::Hello);
    }

    /// Resyncs everything that can be read again from the store.
    pub(super) fn resync_from_store(self: &Arc<Self>) {
        self.credentials.clear();
        self.waiters.invalidate_all();
        self.news.publish_resync();
        self.runs.wake_replicas();
        run_commands::process_pending(self);
    }
}
