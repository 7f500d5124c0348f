//! An agent in a terminal, whichever hub its calls reach.

use serde_json::json;

use super::Cluster;
use crate::hap::{self, Shell, id, until_gone};
use crate::harness::*;

impl Shell {
    /// The same terminal, calling another hub.
    fn at(&self, hub: &Hub) -> Self {
        Self {
            api: self.api.to(&hub.url),
            agent_id: self.agent_id.clone(),
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn who_waits_at_one_hub_is_seen_at_all_and_their_end_too() {
    let cluster = Cluster::start(2).await;
    let shell = Shell::join(&cluster.hubs[0]).await;
    let cue = shell.ask_for_id("One?").await;
    let process = shell.waiting(&cluster.hubs[0], &cue).await;
    eventually("it waits, seen from there", async || {
        (hap::presence(&cluster.hubs[1], &cue).await == "waiting").then_some(())
    })
    .await;
    process.abort();
    until_gone(&cluster.hubs[1], &cue).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_process_that_waits_elsewhere_is_not_superseded() {
    let cluster = Cluster::start(2).await;
    let shell = Shell::join(&cluster.hubs[0]).await;
    let first = shell.ask_for_id("One?").await;
    let process = shell.waiting(&cluster.hubs[0], &first).await;
    eventually("it waits, seen from there", async || {
        (hap::presence(&cluster.hubs[1], &first).await == "waiting").then_some(())
    })
    .await;
    let second = shell.at(&cluster.hubs[1]).ask("Two?").await;
    assert_eq!(
        (&second["superseded"], &second["queued_behind"]),
        (&json!([]), &json!(1))
    );
    cluster.hubs[1].owner.answer(&first, "one").await.expect(200);
    assert_eq!(process.await.expect("a reply").expect(200)["reply"]["text"], "one");
    assert_eq!(shell.at(&cluster.hubs[1]).look(&id(&second)).await["status"], "open");
}

#[tokio::test(flavor = "multi_thread")]
async fn with_a_hub_that_is_killed_goes_whoever_waited_there() {
    let mut cluster = Cluster::start(2).await;
    let shell = Shell::join(&cluster.hubs[0]).await;
    let cue = shell.ask_for_id("One?").await;
    let _process = shell.waiting(&cluster.hubs[0], &cue).await;
    eventually("it waits, seen from there", async || {
        (hap::presence(&cluster.hubs[1], &cue).await == "waiting").then_some(())
    })
    .await;
    cluster.hubs[0].kill();
    until_gone(&cluster.hubs[1], &cue).await;
}
