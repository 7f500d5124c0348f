use std::sync::Arc;

use anyhow::Result;

use super::{Settings, requests};
use crate::load::{Slot, Slots, Worker, drain_spread};
use crate::process::{Agent, Hub, HubOptions, Postgres};

/// As many agents as connections: the asks of one agent are counted in one row, which serializes its writers.
pub const AGENTS: usize = 32;

/// Several hubs on one database, with agents that may call any of them.
pub struct Cluster {
    pub hubs: Vec<Hub>,
    pub agents: Vec<Agent>,
    /// The process ids of the hubs and of the database.
    pub servers: Vec<u32>,
}

impl Cluster {
    /// Starts the hubs on a new database of that name.
    pub async fn start(settings: &Settings, postgres: &Postgres, database: &str, nodes: usize) -> Result<Self> {
        postgres.create(database).await?;
        let options = HubOptions {
            database_url: Some(postgres.url(database)),
            ..settings.hub.clone()
        };
        let mut hubs = Vec::new();
        let mut agents = Vec::new();
        for _ in 0..nodes {
            hubs.push(Hub::start(&options).await?);
        }
        for number in 0..AGENTS {
            agents.push(hubs[0].add_agent(&format!("bench-{number:02}")).await?);
        }
        let servers = hubs.iter().map(|hub| hub.target.pid).chain([postgres.pid]).collect();
        Ok(Self { hubs, agents, servers })
    }

    /// The hub of a connection, round-robin.
    fn hub(&self, connection: usize) -> &Hub {
        &self.hubs[connection % self.hubs.len()]
    }

    fn workers(&self, connections: usize, worker: impl Fn(usize, &Hub) -> crate::load::Work) -> Vec<Worker> {
        let worker = |number| {
            let hub = self.hub(number);
            Worker {
                target: hub.target,
                work: worker(number, hub),
            }
        };
        (0..connections).map(worker).collect()
    }

    /// Submits with a different agent on every connection.
    pub fn submit(&self, connections: usize, slots: Slots) -> Vec<Worker> {
        let slots = Arc::new(slots);
        self.workers(connections, |number, _| {
            requests::submit(&self.agents[number % AGENTS], Arc::clone(&slots)).capturing()
        })
    }

    /// Submits with the same agent on all connections.
    pub fn submit_of(&self, agent: &Agent, connections: usize, slots: Slots) -> Vec<Worker> {
        let slots = Arc::new(slots);
        self.workers(connections, |_, _| {
            requests::submit(agent, Arc::clone(&slots)).capturing()
        })
    }

    pub fn answer(&self, connections: usize, ids: Vec<Slot>) -> Vec<Worker> {
        let slots = Arc::new(Slots::ids(ids));
        self.workers(connections, |_, hub| requests::resolve(hub, Arc::clone(&slots)))
    }

    /// Every agent pulls its own messages.
    pub fn pull(&self, ids: &[Vec<Slot>]) -> Vec<Worker> {
        self.workers(ids.len(), |number, _| {
            requests::pull(&self.agents[number], ids[number].clone())
        })
    }

    pub fn list_inbox(&self, connections: usize, times: u64) -> Vec<Worker> {
        let slots = Arc::new(Slots::keys(times));
        self.workers(connections, |_, hub| requests::list_inbox(hub, Arc::clone(&slots)))
    }

    /// Submits `count` asks that stay open.
    pub async fn leave_open(&self, count: usize) -> Result<()> {
        drain_spread(self.submit(AGENTS, Slots::keys(count as u64))).await?;
        Ok(())
    }
}
