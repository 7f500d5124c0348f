//! Several hubs on one PostgreSQL, with the same behaviour as one: any of them takes any request, and what one has under way
//! survives its end.

mod delivery;
mod expiry;
mod faults;
mod inbox;
mod letters;
mod outage;
mod runs;
mod shared;
mod start;
mod terminals;
mod unsaid;
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
    eventually("somebody waits", async || hub.anonymous().get("/metrics").await.text().contains(&line).then_some(()))
        .await;
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
        let (mut hubs, mut wires) = (Vec::new(), Vec::new());
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
}
