//! The hub: doors for agents, the inbox for people, push delivery, and the services that they share.

pub mod admin;
pub mod auth;
pub mod background;
pub mod cluster;
pub mod delivery;
pub mod doors;
pub mod http;
pub mod inbox;
pub mod limits;
pub mod live;
pub mod messages;
pub mod node;
pub mod problem;
pub mod process;
pub mod serve;
#[cfg(test)]
mod testing;

pub use serve::routes::Pages;

use std::sync::Arc;

use countersign_config::Config;
use countersign_runs::engine::agents::Tools;
use countersign_runs::{RunRegistry, RunService, RunServiceParts};
use countersign_store::Store;
use countersign_telemetry::metrics::{Durations, Metrics};
use tokio::sync::watch;

use crate::auth::Auth;
use crate::background::Background;
use crate::cluster::{Cluster, LEASE};
use crate::delivery::Outbox;
use crate::inbox::images::ImageFetcher;
use crate::limits::Limits;
use crate::live::LiveBroadcaster;
use crate::messages::cue_waiters::CueWaiters;
use crate::messages::{Messages, MessagesParts};
use crate::process::Process;

pub struct Hub {
    pub store: Arc<Store>,
    pub config: Config,
    /// Accepts, decides and announces messages.
    pub messages: Arc<Messages>,
    pub outbox: Arc<Outbox>,
    pub live: Arc<LiveBroadcaster>,
    pub cluster: Arc<Cluster>,
    pub cue_waiters: Arc<CueWaiters>,
    pub runs: Arc<RunService>,
    /// Images that people ask to see.
    pub images: ImageFetcher,
    pub auth: Arc<Auth>,
    pub limits: Limits,
    pub background: Background,
    pub metrics: Arc<Metrics>,
    pub process: Process,
}

impl Hub {
    /// The URL for agents. No program trusts the certificate of `--lan`, so agents stay on loopback there.
    pub fn agent_url(&self) -> &str {
        match self.config.lan {
            Some(_) => self.process.local_url(),
            None => self.process.url(),
        }
    }

    pub fn new(
        store: Arc<Store>,
        config: Config,
        outbox: Arc<Outbox>,
        stopping: watch::Receiver<bool>,
    ) -> anyhow::Result<Arc<Self>> {
        let process = Process::new(store.clock().now(), config.public_url.clone(), stopping.clone());
        let cluster = Cluster::new(Arc::clone(&store));
        let live = LiveBroadcaster::new(process.started_at, stopping.clone(), Arc::clone(&cluster));
        outbox.announce_attempts_to(Arc::clone(&live));
        let cue_waiters = CueWaiters::new(
            Arc::clone(&store),
            Arc::clone(&live),
            Arc::clone(&cluster),
            process.started_at,
        );
        let background = Background::new(&store, &live);
        let metrics = Arc::new(Metrics::new(Durations {
            commits: store.commit_durations(),
            deliveries: outbox.durations(),
        }));
        let registry = Arc::new(RunRegistry::new(config.runs.max_live));
        let messages = Messages::new(MessagesParts {
            store: Arc::clone(&store),
            live: Arc::clone(&live),
            cluster: Arc::clone(&cluster),
            cue_waiters: Arc::clone(&cue_waiters),
            runs: Arc::clone(&registry),
            outbox: Arc::clone(&outbox),
            indexer: Arc::clone(&background.indexer),
            metrics: Arc::clone(&metrics),
            stopping,
            default_undo_seconds: config.undo_seconds,
        });
        let runs = RunService::new(RunServiceParts {
            store: Arc::clone(&store),
            registry,
            settings: config.runs.clone(),
            tools: Tools::new(&config.runs, &config.llm)?,
            waiters: Arc::clone(&messages.waiters),
            host: Arc::clone(&messages) as _,
            refusal_text: doors::runs::refusal_text,
            lease: LEASE,
        });
        Ok(Arc::new(Self {
            messages,
            images: ImageFetcher::new(&outbox, &store, config.push.allow_loopback),
            outbox,
            live,
            auth: Auth::new(&store, Arc::clone(&cluster), config.requests_per_minute),
            cluster,
            cue_waiters,
            runs,
            limits: Limits::default(),
            background,
            metrics,
            process,
            config,
            store,
        }))
    }
}
