//! Several hubs on one PostgreSQL behave like a single hub: any hub takes any request, and the work of a hub survives
//! its end.

mod delivery;
mod expiry;
mod faults;
mod following;
mod inbox;
mod long_poll;
mod missing_notifications;
mod outage;
mod run_commands;
mod runs;
mod shared_state;
mod start;
mod takeover;
mod terminals;
mod tls;
mod unknown_outcome;
mod wait_for_database;

use std::time::Duration;

use serde_json::Value;

use crate::harness::*;

/// Delay before a failed call is retried.
const RETRY_DELAY: Duration = Duration::from_millis(20);

/// Long-polls at one hub with retries, and returns the outcome. Each long-poll outlasts `WAIT_TIMEOUT`, so its last read of
/// the store cannot hide a lost wake-up.
async fn wait_for_answer(api: Api, id: String) -> Value {
    let waiting = async {
        loop {
            let request = api.request(reqwest::Method::GET, &format!("/v1/messages/{id}?wait=60"));
            match Api::try_send(request).await {
                Ok(reply) if reply.status == 200 && reply.json()["status"] != "open" => {
                    return reply.json();
                }
                Ok(_) | Err(_) => tokio::time::sleep(RETRY_DELAY).await,
            }
        }
    };
    within("the answer", waiting).await
}

/// Waits until the hub counts `count` long-poll waiters.
async fn until_waiters(hub: &Hub, count: usize) {
    let line = format!("waiters {count}");
    eventually(&line, async || {
        hub.anonymous()
            .get("/metrics")
            .await
            .text()
            .contains(&line)
            .then_some(())
    })
    .await;
}

/// The node id of the hub in the database.
fn node_of(hub: &Hub) -> String {
    std::fs::read_to_string(hub.data().join("node")).expect("the node file")
}

/// Hubs on one database, each behind its own `Wire`.
pub struct Cluster {
    pub hubs: Vec<Hub>,
    pub wires: Vec<Wire>,
    pub database: Database,
}

impl Cluster {
    pub async fn start(count: usize) -> Self {
        Self::with_setup(count, Setup::default).await
    }

    pub async fn with_setup(count: usize, setup: impl Fn() -> Setup) -> Self {
        let database = Database::create().await;
        let mut hubs = Vec::new();
        let mut wires = Vec::new();
        for _ in 0..count {
            let wire = Wire::to(&database).await;
            hubs.push(setup().database_url(&wire.url()).start().await);
            wires.push(wire);
        }
        Self { hubs, wires, database }
    }

    pub async fn agent(&self, id: &str) -> Agent {
        self.hubs[0].agent(id).await
    }

    /// The number of node rows in the database.
    pub async fn nodes(&self) -> i64 {
        self.database.number("SELECT count(*) FROM node").await
    }

    /// The index of the hub that currently holds the delivery of this message.
    pub async fn pusher(&self, message_id: &str) -> usize {
        let claim = "SELECT claimed_by FROM delivery WHERE message_id = $1";
        let found = self
            .database
            .connect()
            .await
            .query_one(claim, &[&message_id])
            .await
            .expect("a delivery");
        let node: String = found.get(0);
        self.hubs
            .iter()
            .position(|hub| node_of(hub) == node)
            .expect("a hub of this cluster")
    }
}
