//! What runs need of the hub around them.

use std::sync::Arc;

use countersign_core::Command;
use countersign_protocol::id::MessageId;
use countersign_store::StoreError;
use countersign_store::model::{ApplyOutcome, NewMessage};
use futures_util::future::BoxFuture;

use crate::remote::commands::CommandReply;

/// A change that other nodes hear of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RunSignal {
    /// Something of this run was stored.
    Advanced(String),
    CommandStored,
    CommandReplied {
        number: i64,
        reply: CommandReply,
    },
}

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

    /// Notes a commit, so that background work gives way.
    fn note_activity(&self);

    fn publish(&self, signal: RunSignal);

    fn is_stopping(&self) -> bool;
}
