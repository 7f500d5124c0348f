//! The runs of this node.

use std::sync::Arc;
use std::time::Duration;

use countersign_protocol::runs::ClientMessage;
use countersign_store::Store;
use countersign_store::waiters::Waiters;

use crate::engine::agents::Tools;
use crate::host::RunHost;
use crate::refusal::{RefusalText, RunRefusal};
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
    /// Words a refusal for a client of another node.
    pub refusal_text: fn(&ClientMessage, RunRefusal) -> RefusalText,
    pub lease: Duration,
}

pub struct RunService {
    pub registry: Arc<RunRegistry>,
    pub(crate) store: Arc<Store>,
    pub(crate) settings: RunsSettings,
    pub(crate) tools: Tools,
    pub(crate) waiters: Arc<Waiters>,
    pub(crate) host: Arc<dyn RunHost>,
    pub(crate) refusal_text: fn(&ClientMessage, RunRefusal) -> RefusalText,
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
            refusal_text,
            lease,
        } = parts;
        Arc::new(Self {
            registry,
            store,
            settings,
            tools,
            waiters,
            host,
            refusal_text,
            commands: CommandTracker::default(),
            lease,
        })
    }
}
