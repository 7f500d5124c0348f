//! The runs of this node.

use std::sync::Arc;
use std::time::Duration;

use countersign_core::Command;
use countersign_protocol::id::MessageId;
use countersign_store::model::ApplyOutcome;
use countersign_store::waiters::Waiters;
use countersign_store::{Store, StoreError};

use crate::engine::agents::Tools;
use crate::host::{RunHost, RunSignal};
use crate::registry::RunRegistry;
use crate::remote::replies::CommandTracker;
use crate::settings::RunsSettings;

pub struct RunServiceParts {
    pub store: Arc<Store>,
    pub registry: Arc<RunRegistry>,
    pub settings: RunsSettings,
    pub tools: Tools,
    pub waiters: Arc<Waiters>,
    pub host: Arc<dyn RunHost>,
    pub lease: Duration,
}

pub struct RunService {
    pub registry: Arc<RunRegistry>,
    pub(crate) store: Arc<Store>,
    pub(crate) settings: RunsSettings,
    pub(crate) tools: Tools,
    pub(crate) waiters: Arc<Waiters>,
    pub(crate) host: Arc<dyn RunHost>,
    pub(crate) commands: CommandTracker,
    /// The lease of a node: a commit that took longer may be another node's run by now.
    pub(crate) lease: Duration,
}

impl RunService {
    pub fn new(parts: RunServiceParts) -> Arc<Self> {
        let RunServiceParts {
            store,
            registry,
            settings,
            tools,
            waiters,
            host,
            lease,
        } = parts;
        Arc::new(Self {
            registry,
            store,
            settings,
            tools,
            waiters,
            host,
            commands: CommandTracker::default(),
            lease,
        })
    }

    pub(crate) async fn decide(&self, message_id: &MessageId, command: Command) -> Result<ApplyOutcome, StoreError> {
        Arc::clone(&self.host).decide(message_id, command).await
    }

    /// Tells the other nodes; on a store of its own there are none.
    pub(crate) fn publish(&self, signal: impl FnOnce() -> RunSignal) {
        if self.store.is_shared() {
            self.host.publish(signal());
        }
    }
}
