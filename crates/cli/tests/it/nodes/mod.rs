//! Several hubs on one PostgreSQL, with the same behaviour as one: any of them takes any request, and what one has under way
//! survives its end.

mod delivery;
mod expiry;
mod faults;
mod following;
mod inbox;
mod letters;
mod outage;
mod runs;
mod shared;
mod start;
mod takeover;
mod terminals;
mod tls;
mod unsaid;
mod unsure;
mod waiting;

use std::time::{Duration, Instant};

use serde_json::Value;

use crate::harness::*;

/// Before a call that failed is made again.
const PAUSE: Duration = Duration::from_millis(20);

/// What comes sooner came by the word of another hub: what is remembered of a credential is good for longer by itself.
const BY_WORD: Duration = Duration::from_secs(2);

/// Waits at one hub as a patient agent does; says when it had the answer.
async fn waited(api: Api, id: String) -> (Instant, Value) {
    let waiting = async {
        loop {
            let request = api.request(reqwest::Method::GET, &format!("/v1/messages/{id}?wait=20"));
            match Api::try_send(request).await {
                Ok(reply) if reply.status == 200 && reply.json()["status"] != "open" => {
                    return (Instant::now(), reply.json());
                }
                Ok(_) | Err(_) => tokio::time::sleep(PAUSE).await,
            }
        }
    };
    within("the answer", waiting).await
}

/// Until so many messages are waited for there.
async fn is_waited_for(hub: &Hub, count: usize) {
    let line = format!("waiters {count}");
    eventually("somebody waits", async || {
        hub.anonymous()
            .get("/metrics")
            .await
            .text()
            .contains(&line)
            .then_some(())
    })
    .await;
}

/// Of the hub, as the database knows it.
fn node_of(hub: &Hub) -> String {
    std::fs::read_to_string(hub.data().join("node")).expect("a note of it")
}

/// Hubs on one database, each behind a wire of its own.
pub struct Cluster {
    pub hubs: Vec<Hub>,
    pub wires: Vec<Wire>,
    pub database: Database,
}

impl Cluster {
    pub async fn start(count: usize) -> Self {
        Self::of(count, Setup::default).await
    }

    pub async fn of(count: usize, setup: impl Fn() -> Setup) -> Self {
        let database = Database::create().await;
        let mut hubs = Vec::new();
        let mut wires = Vec::new();
        for _ in 0..count {
            let wire = Wire::to(&database).await;
            hubs.push(setup().remembering_in(&wire.url()).start().await);
            wires.push(wire);
        }
        Self { hubs, wires, database }
    }

    pub async fn agent(&self, id: &str) -> Agent {
        self.hubs[0].agent(id).await
    }

    /// Nodes the database knows of.
    pub async fn nodes(&self) -> i64 {
        self.database.number("SELECT count(*) FROM node").await
    }

    /// Whoever brings the answer of this message to its receiver just now.
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
            .expect("one of these")
    }
}
