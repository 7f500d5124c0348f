//! The hub comes and goes while an agent waits.

use super::{Desk, answer, answered, items, terminal_token, waited_for};
use crate::harness::*;
use crate::nodes::Cluster;

#[tokio::test(flavor = "multi_thread")]
async fn a_hub_that_is_stopped_and_started_still_gives_the_answer() {
    let mut hub = Hub::start().await;
    let desk = Desk::beside(&hub);
    let (process, id) = desk.waiting(&hub, "gavonel", "Ship it?").await;
    for _ in 0..2 {
        assert!(hub.interrupt().success());
        hub.restart().await;
        assert_eq!(waited_for(&hub, "Ship it?").await, id, "it comes back by itself");
    }
    answer(&hub, &id, "yes").await;
    assert_eq!(process.finish().ok(), answered("yes"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hub_that_is_killed_is_waited_for_and_the_agent_is_told() {
    let mut hub = Hub::start().await;
    let desk = Desk::beside(&hub);
    let (process, id) = desk.waiting(&hub, "gavonel", "Ship it?").await;
    hub.kill();
    process.stderr_with("the hub is away, the request is kept").await;
    hub.restart().await;
    process.stderr_with("the hub is back").await;
    assert_eq!(waited_for(&hub, "Ship it?").await, id);
    answer(&hub, &id, "yes").await;
    let ran = process.finish();
    assert_eq!(ran.stderr.lines().count(), 2, "{ran:?}");
    assert_eq!(ran.ok(), answered("yes"));
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_given_before_the_crash_arrives_after_it() {
    let mut hub = Hub::start().await;
    let token = terminal_token(&hub, "owner").await;
    let desk = Desk::beside(&hub)
        .env("COUNTERSIGN_URL", &hub.url)
        .env("COUNTERSIGN_TOKEN", &token);
    let (process, id) = desk.waiting(&hub, "gavonel", "Ship it?").await;
    process.signal("STOP");
    answer(&hub, &id, "yes").await;
    hub.kill();
    process.signal("CONT");
    hub.restart().await;
    assert_eq!(process.finish().ok(), answered("yes"));
    assert_eq!(items(&hub).await.len(), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hub_that_stays_away_costs_no_more_than_the_limit() {
    let mut hub = Hub::start().await;
    let desk = Desk::beside(&hub);
    let process = desk.start(
        &["cue", "gavonel", "-", "--max-wait", "2s"],
        super::envelope("Ship it?"),
    );
    let id = waited_for(&hub, "Ship it?").await;
    hub.kill();
    let ran = process.finish();
    assert!(ran.stdout.contains("cueme resume gavonel"), "{ran:?}");
    assert_eq!(ran.code, 0, "{ran:?}");
    hub.restart().await;
    answer(&hub, &id, "yes").await;
    assert_eq!(desk.run(&["resume", "gavonel"], "").ok(), answered("yes"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hub_whose_database_is_away_is_waited_for() {
    let cluster = Cluster::start(1).await;
    let hub = &cluster.hubs[0];
    let wire = &cluster.wires[0];
    let terminal = Desk::beside(hub);
    let agent_id = terminal.join();
    wire.be(State::Cut);
    eventually("the hub notices", async || {
        (hub.anonymous().get("/ready").await.status == 503).then_some(())
    })
    .await;
    let process = terminal.cue(&agent_id, "Ship it?");
    process.stderr_with("the hub has not taken it yet: trying on").await;
    wire.be(State::Open);
    eventually("it is back", async || {
        (hub.anonymous().get("/ready").await.status == 200).then_some(())
    })
    .await;
    let id = waited_for(hub, "Ship it?").await;
    answer(hub, &id, "yes").await;
    assert_eq!(process.finish().ok(), answered("yes"));
}
