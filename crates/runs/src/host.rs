//! What runs need of the hub around them.

use std::sync::Arc;

use countersign_core::Command;
use countersign_protocol::id::MessageId;
use countersign_store::StoreError;
use countersign_store::model::{ApplyOutcome, NewMessage};
use futures_util::future::BoxFuture;

use crate::remote::commands::CommandReply;

pub trait RunHost: Send + Sync {
    /// Announces an ask after its commit, like every other accepted message.
    fn announce_ask(&self, message: &NewMessage);

    /// Resolves a message on the same path as every other decision.
    fn decide<'a>(
        self: Arc<Self>,
        message_id: &'a MessageId,
        command: Command,
    ) -> BoxFuture<'a, Result<ApplyOutcome, StoreError>>;

    /// Tells open pages that a run began or ended.
    fn run_changed(&self, run_id: &str);

    /// Notes a commit of a run, so that background work gives way and the other nodes read it.
    fn run_advanced(&self, run_id: &str);

    /// Tells the other nodes that a remote run command was stored.
    fn command_stored(&self);

    /// Tells the other nodes the reply to a remote run command.
    fn command_replied(&self, number: i64, reply: CommandReply);

    fn is_stopping(&self) -> bool;
}
