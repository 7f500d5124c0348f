//! Hub restarts and outages while an agent waits.

use super::{AgentShell, answer, answered, items, terminal_token, wait_for_request};
use crate::harness::*;
use crate::nodes::Cluster;

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_arrives_after_hub_restarts() {
    let mut hub = Hub::start().await;
    let shell = AgentShell::with_hub(&hub);
    let (process, id) = shell.waiting(&hub, "gavonel", "Ship it?").await;
    for _ in 0..2 {
        assert!(hub.interrupt().success());
        hub.restart().await;
        assert_eq!(wait_for_request(&hub, "Ship it?").await, id, "the process reconnects");
    }
    answer(&hub, &id, "yes").await;
    assert_eq!(process.finish().ok(), answered("yes"));
}

#[tokio::test(flavor = "multi_thread")]
async fn cueme_waits_for_a_killed_hub_and_says_so() {
    let mut hub = Hub::start().await;
    let shell = AgentShell::with_hub(&hub);
    let (process, id) = shell.waiting(&hub, "gavonel", "Ship it?").await;
    hub.kill();
    process.stderr_with("the hub is away, the request is kept").await;
    hub.restart().await;
    process.stderr_with("the hub is back").await;
    assert_eq!(wait_for_request(&hub, "Ship it?").await, id);
    answer(&hub, &id, "yes").await;
    let ran = process.finish();
    assert_eq!(ran.stderr.lines().count(), 2, "{ran:?}");
    assert_eq!(ran.ok(), answered("yes"));
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_given_before_a_crash_arrives_after_it() {
    let mut hub = Hub::start().await;
    let token = terminal_token(&hub, "owner").await;
    let shell = AgentShell::with_hub(&hub)
        .env("COUNTERSIGN_URL", &hub.url)
        .env("COUNTERSIGN_TOKEN", &token);
    let (process, id) = shell.waiting(&hub, "gavonel", "Ship it?").await;
    process.signal("STOP");
    answer(&hub, &id, "yes").await;
    hub.kill();
    process.signal("CONT");
    hub.restart().await;
    assert_eq!(process.finish().ok(), answered("yes"));
    assert_eq!(items(&hub).await.len(), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_wait_limit_holds_while_the_hub_is_down() {
    let mut hub = Hub::start().await;
    let shell = AgentShell::with_hub(&hub);
    let process = shell.start(
        &["cue", "gavonel", "-", "--max-wait", "5s"],
        super::envelope("Ship it?"),
    );
    let id = wait_for_request(&hub, "Ship it?").await;
    hub.kill();
    let ran = process.finish();
    assert!(ran.stdout.contains("cueme resume gavonel"), "{ran:?}");
    assert_eq!(ran.code, 0, "{ran:?}");
    hub.restart().await;
    answer(&hub, &id, "yes").await;
    assert_eq!(shell.run(&["resume", "gavonel"], "").ok(), answered("yes"));
}

#[tokio::test(flavor = "multi_thread")]
async fn cueme_waits_for_a_hub_without_its_database() {
    let cluster = Cluster::start(1).await;
    let hub = &cluster.hubs[0];
    let wire = &cluster.wires[0];
    let terminal = AgentShell::with_hub(hub);
    let agent_id = terminal.join();
    wire.set_state(WireState::Cut);
    eventually("the hub notices the outage", async || {
        (hub.anonymous().get("/ready").await.status == 503).then_some(())
    })
    .await;
    let process = terminal.cue(&agent_id, "Ship it?");
    process.stderr_with("the hub is not ready yet; retrying").await;
    wire.set_state(WireState::Open);
    eventually("the hub is ready", async || {
        (hub.anonymous().get("/ready").await.status == 200).then_some(())
    })
    .await;
    let id = wait_for_request(hub, "Ship it?").await;
    answer(hub, &id, "yes").await;
    assert_eq!(process.finish().ok(), answered("yes"));
}
