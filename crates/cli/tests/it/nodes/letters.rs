//! What is said to a run that another hub moves, when that hub does not answer as it should.

use std::time::Duration;

use serde_json::json;

use super::Cluster;
use crate::harness::*;
use crate::runs::stage::*;

const LETTERS: &str = "SELECT count(*) FROM run_mail";

#[tokio::test(flavor = "multi_thread")]
async fn a_letter_goes_once_it_is_done() {
    let cluster = Cluster::start(2).await;
    let mut here = Client::connect(&cluster.hubs[0]).await;
    let mut there = Client::connect(&cluster.hubs[1]).await;
    let run = here.begin(&cluster.hubs[0], &talk(), "").await;
    here.asked().await;
    for number in 0..3 {
        there
            .send(json!({"type": "steer_run", "runId": run, "text": format!("word {number}")}))
            .await;
    }
    for number in 0..3 {
        assert_eq!(
            here.expect("steer_queued").await["text"],
            format!("word {number}"),
            "in their order"
        );
    }
    there.silence().await;
    assert_eq!(cluster.database.number(LETTERS).await, 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn whoever_stops_a_run_whose_hub_stands_still_is_not_told_that_it_stopped() {
    let cluster = Cluster::start(2).await;
    let mut here = Client::connect(&cluster.hubs[0]).await;
    let run = here.begin(&cluster.hubs[0], &talk(), "").await;
    here.asked().await;
    cluster.hubs[0].freeze();
    // No hub may take over, so that nobody answers.
    cluster
        .database
        .execute("UPDATE node SET lease_until = lease_until + 3600000")
        .await;
    let stopped = cluster.hubs[1]
        .owner
        .post(&format!("/v1/runs/{run}/stop"), &json!({}))
        .await;
    let refused = stopped.refused("unavailable");
    assert!(
        refused["error"]["message"]
            .as_str()
            .is_some_and(|text| text.contains("may be done or not")),
        "{refused}"
    );
    cluster.hubs[0].thaw();
    assert_eq!(
        here.failure().await.0,
        "CANCELLED",
        "it is done in the end, since it is not too late"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_letter_nobody_waits_for_any_more_is_not_done() {
    let cluster = Cluster::start(1).await;
    let mut here = Client::connect(&cluster.hubs[0]).await;
    let run = here.begin(&cluster.hubs[0], &talk(), "").await;
    here.asked().await;
    let stop = json!({"type": "stop_run", "runId": run});
    let letter = format!(
        "INSERT INTO run_mail (run_id, body, created_at) \
         VALUES ('{run}', '{stop}', extract(epoch FROM clock_timestamp()) * 1000 - 31000)"
    );
    cluster.database.execute(&letter).await;
    eventually("it is thrown away", async || {
        (cluster.database.number(LETTERS).await == 0).then_some(())
    })
    .await;
    here.answer(&run, "user", "hello").await;
    assert_eq!(here.result().await, "hello");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_letter_that_nobody_announced_is_found() {
    let cluster = Cluster::start(1).await;
    let mut here = Client::connect(&cluster.hubs[0]).await;
    let run = here.begin(&cluster.hubs[0], &talk(), "").await;
    here.asked().await;
    let stop = json!({"type": "stop_run", "runId": run});
    let letter = format!(
        "INSERT INTO run_mail (run_id, body, created_at) \
         VALUES ('{run}', '{stop}', extract(epoch FROM clock_timestamp()) * 1000)"
    );
    cluster.database.execute(&letter).await;
    assert_eq!(here.failure().await.0, "CANCELLED");
    eventually("it goes", async || {
        (cluster.database.number(LETTERS).await == 0).then_some(())
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_that_was_over_here_and_goes_on_elsewhere_is_stopped_there() {
    let cluster = Cluster::start(2).await;
    let mut here = Client::connect(&cluster.hubs[0]).await;
    let run = here.begin(&cluster.hubs[0], &talk(), "").await;
    here.asked().await;
    here.answer(&run, "user", "hello").await;
    here.result().await;
    here.unsubscribe(&run).await;
    let mut there = Client::connect(&cluster.hubs[1]).await;
    there.proceed(&run, "").await;
    there.asked().await;
    let stopped = cluster.hubs[0]
        .owner
        .post(&format!("/v1/runs/{run}/stop"), &json!({}))
        .await;
    assert_eq!(stopped.status, 204, "{}", stopped.text());
    let ended = tokio::time::timeout(Duration::from_secs(5), there.failure())
        .await
        .expect("it is stopped");
    assert_eq!(ended.0, "CANCELLED");
}
