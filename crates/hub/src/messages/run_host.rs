//! What runs need of the hub: their asks are messages like any other.

use countersign_core::Command;
use countersign_protocol::id::MessageId;
use countersign_runs::{CommandReply, RunHost};
use countersign_store::StoreError;
use countersign_store::model::{ApplyOutcome, NewMessage};
use futures_util::FutureExt;
use futures_util::future::BoxFuture;

use super::{Accepted, Messages};
use crate::cluster::{LiveChange, Signal};

impl RunHost for Messages {
    fn announce_ask(&self, message: &NewMessage) {
        self.announce_accepted(&Accepted::of(message));
    }

    fn decide<'a>(
        self: std::sync::Arc<Self>,
        message_id: &'a MessageId,
        command: Command,
    ) -> BoxFuture<'a, Result<ApplyOutcome, StoreError>> {
        async move { self.decide_with_files(message_id, command, Vec::new()).await }.boxed()
    }

    fn run_changed(&self, run_id: &str) {
        self.parts.live.publish(LiveChange::Run(run_id.to_owned()));
    }

    fn run_advanced(&self, run_id: &str) {
        self.parts.indexer.note_activity();
        self.parts.cluster.publish(|| Signal::RunAdvanced(run_id.to_owned()));
    }

    fn command_stored(&self) {
        self.parts.cluster.publish(|| Signal::RunCommandStored);
    }

    fn command_replied(&self, number: i64, reply: CommandReply) {
        self.parts
            .cluster
            .publish(|| Signal::RunCommandReplied { number, reply });
    }

    fn is_stopping(&self) -> bool {
        *self.parts.stopping.borrow()
    }
}
