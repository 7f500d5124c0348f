//! Signals from the other nodes: subscribing to the bus and acting on each signal.

use std::sync::Arc;

use countersign_protocol::id::MessageId;
use countersign_store::Notification;
use tokio::sync::mpsc;

use crate::Hub;
use crate::cluster::{LiveChange, Signal};

/// Notifications received from the bus and not yet handled.
const NOTIFICATION_QUEUE_CAPACITY: usize = 1024;

/// Runs until dropped. On an unshared store it stays pending.
pub async fn run(hub: Arc<Hub>) {
    let Some(bus) = hub.store.bus() else {
        return std::future::pending().await;
    };
    let (sender, mut notifications) = mpsc::channel(NOTIFICATION_QUEUE_CAPACITY);
    let listening = async {
        while let Some(notification) = notifications.recv().await {
            match notification {
                Notification::Message(text) => handle_notification(&hub, &text),
                Notification::Gap => resync_everything(&hub),
            }
        }
    };
    tokio::join!(bus.run(&sender), listening);
}

fn handle_notification(hub: &Arc<Hub>, text: &str) {
    match Signal::read(text) {
        Some((node, signal)) if node != hub.store.node() => handle_signal(hub, node, signal),
        Some(_) => {}
        None => tracing::debug!("unknown signal from another node ignored; it may run a newer version"),
    }
}

fn handle_signal(hub: &Arc<Hub>, node: &str, signal: Signal) {
    match signal {
        Signal::Changed(change) => hub.live.publish_local(change),
        Signal::Resolved { id, run } => resolved_remotely(hub, &id, run.as_deref()),
        Signal::Credentials => hub.auth.credentials.clear(),
        Signal::CueWaiterCame { id, kind, since, held } => hub.cue_waiters.remote_waiting(node, &id, kind, since, held),
        Signal::CueWaitersLeft { id, at, broken } => hub.cue_waiters.remote_left(node, &id, at, broken),
        Signal::NoCue(id) => hub.cue_waiters.remote_withdrawn(node, &id),
        Signal::RunAdvanced(run_id) => hub.runs.on_remote_advance(&run_id),
        Signal::RunCommandStored => hub.runs.process_commands(),
        Signal::RunCommandReplied { number, reply } => hub.runs.command_replied(number, reply),
        Signal::NodeRemoved(gone) => forget_nodes(hub, &[gone]),
        Signal::StateWanted => hub.cue_waiters.publish_all(),
    }
}

/// The counterpart of `announce` for a message that was resolved through another node.
pub(super) fn resolved_remotely(hub: &Hub, id: &MessageId, run_id: Option<&str>) {
    hub.cue_waiters.cue_ended(id);
    if let Some(run_id) = run_id {
        hub.runs.registry.resolved_remotely(run_id, id, hub.store.clock().now());
    }
    hub.messages.waiters.invalidate(id);
    if hub.cluster.is_first_notice(id) {
        hub.live.publish_local(LiveChange::Resolved(id.clone()));
    }
}

/// Handles nodes whose lease ran out. Every node is told, because the last signals of a dead node may be lost.
pub(super) fn nodes_gone(hub: &Arc<Hub>, nodes: &[String]) {
    nodes
        .iter()
        .for_each(|node| hub.cluster.publish(|| Signal::NodeRemoved(node.clone())));
    forget_nodes(hub, nodes);
}

/// Drops the state learned from these nodes. The surviving nodes still have their own, so no `StateWanted` is needed.
fn forget_nodes(hub: &Arc<Hub>, nodes: &[String]) {
    nodes.iter().for_each(|node| hub.cue_waiters.remote_node_gone(node));
    resync_from_store(hub);
}

/// Full resync after a gap in the notifications.
pub(super) fn resync_everything(hub: &Arc<Hub>) {
    resync_from_store(hub);
    hub.cue_waiters.publish_all();
    hub.cluster.publish(|| Signal::StateWanted);
}

/// Resyncs everything that can be read again from the store.
pub(super) fn resync_from_store(hub: &Arc<Hub>) {
    hub.auth.credentials.clear();
    hub.messages.waiters.invalidate_all();
    hub.live.publish_resync();
    hub.runs.registry.wake_replicas();
    hub.runs.process_commands();
}
