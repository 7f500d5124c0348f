//! Terminal agents whose calls reach different hubs.

use serde_json::json;

use super::Cluster;
use crate::hap::{self, TerminalAgent, id, until_gone};
use crate::harness::*;

impl TerminalAgent {
    /// The same terminal agent, calling another hub.
    fn at(&self, hub: &Hub) -> Self {
        Self {
            api: self.api.to(&hub.url),
            agent_id: self.agent_id.clone(),
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_waiting_process_and_its_end_are_seen_at_all_hubs() {
    let cluster = Cluster::start(2).await;
    let shell = TerminalAgent::join(&cluster.hubs[0]).await;
    let cue = shell.ask_for_id("One?").await;
    let process = shell.waiting(&cluster.hubs[0], &cue).await;
    eventually("the other hub sees it waiting", async || {
        (hap::presence(&cluster.hubs[1], &cue).await == "waiting").then_some(())
    })
    .await;
    process.abort();
    until_gone(&cluster.hubs[1], &cue).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_process_waiting_at_another_hub_is_not_superseded() {
    let cluster = Cluster::start(2).await;
    let shell = TerminalAgent::join(&cluster.hubs[0]).await;
    let first = shell.ask_for_id("One?").await;
    let process = shell.waiting(&cluster.hubs[0], &first).await;
    eventually("the other hub sees it waiting", async || {
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
    assert_eq!(shell.at(&cluster.hubs[1]).get_cue(&id(&second)).await["status"], "open");
}

#[tokio::test(flavor = "multi_thread")]
async fn waiters_of_a_killed_hub_are_gone() {
    let mut cluster = Cluster::start(2).await;
    let shell = TerminalAgent::join(&cluster.hubs[0]).await;
    let cue = shell.ask_for_id("One?").await;
    let _process = shell.waiting(&cluster.hubs[0], &cue).await;
    eventually("the other hub sees it waiting", async || {
        (hap::presence(&cluster.hubs[1], &cue).await == "waiting").then_some(())
    })
    .await;
    cluster.hubs[0].kill();
    until_gone(&cluster.hubs[1], &cue).await;
}
