//! Remote run commands (table `run_mail`) when the hub that owns the run does not respond as it should.

use serde_json::json;

use super::Cluster;
use crate::harness::*;
use crate::runs::stage::*;

const COMMAND_COUNT: &str = "SELECT count(*) FROM run_mail";

#[tokio::test(flavor = "multi_thread")]
async fn a_remote_command_is_removed_once_applied() {
    let cluster = Cluster::start(2).await;
    let mut here = Client::connect(&cluster.hubs[0]).await;
    let mut there = Client::connect(&cluster.hubs[1]).await;
    let run = here.start_strategy(&cluster.hubs[0], &talk(), "").await;
    here.next_question().await;
    for number in 0..3 {
        there
            .send(json!({"type": "steer_run", "runId": run, "text": format!("word {number}")}))
            .await;
    }
    for number in 0..3 {
        assert_eq!(
            here.expect("steer_queued").await["text"],
            format!("word {number}"),
            "in order"
        );
    }
    there.expect_silence().await;
    assert_eq!(cluster.database.number(COMMAND_COUNT).await, 0);
}

/// By a trigger, because nodes shorten the leases of others that are too long.
const LENGTHEN_LEASES: &str = "CREATE FUNCTION lengthen() RETURNS trigger LANGUAGE plpgsql AS \
     $$ BEGIN NEW.lease_until = NEW.lease_until + 3600000; RETURN NEW; END $$; \
     CREATE TRIGGER lengthen BEFORE UPDATE ON node FOR EACH ROW EXECUTE FUNCTION lengthen()";
const LONG_LEASES: &str =
    "SELECT count(*) FROM node WHERE lease_until > extract(epoch FROM clock_timestamp()) * 1000 + 60000";

#[tokio::test(flavor = "multi_thread")]
async fn stopping_a_run_of_a_frozen_hub_is_not_reported_as_success() {
    let cluster = Cluster::start(2).await;
    let mut here = Client::connect(&cluster.hubs[0]).await;
    let run = here.start_strategy(&cluster.hubs[0], &talk(), "").await;
    here.next_question().await;
    // Long leases prevent a takeover, so that no hub answers.
    cluster.database.execute(LENGTHEN_LEASES).await;
    eventually("both leases are long", async || {
        (cluster.database.number(LONG_LEASES).await == 2).then_some(())
    })
    .await;
    cluster.hubs[0].freeze();
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
        "the command is still applied, because it has not expired"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn an_expired_remote_command_is_not_applied() {
    let cluster = Cluster::start(1).await;
    let mut here = Client::connect(&cluster.hubs[0]).await;
    let run = here.start_strategy(&cluster.hubs[0], &talk(), "").await;
    here.next_question().await;
    let stop = json!({"type": "stop_run", "runId": run});
    let insert = format!(
        "INSERT INTO run_mail (run_id, body, created_at) \
         VALUES ('{run}', '{stop}', extract(epoch FROM clock_timestamp()) * 1000 - 31000)"
    );
    cluster.database.execute(&insert).await;
    eventually("the command is discarded", async || {
        (cluster.database.number(COMMAND_COUNT).await == 0).then_some(())
    })
    .await;
    here.answer(&run, "user", "hello").await;
    assert_eq!(here.result().await, "hello");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_unreadable_remote_command_is_discarded_and_logged() {
    let cluster = Cluster::start(1).await;
    let mut here = Client::connect(&cluster.hubs[0]).await;
    let run = here.start_strategy(&cluster.hubs[0], &talk(), "").await;
    here.next_question().await;
    for body in [r#"{"type":"rewind_run"}"#, r#"{"type":"ping"}"#, "{"] {
        let insert = format!(
            "INSERT INTO run_mail (run_id, body, created_at) \
             VALUES ('{run}', '{body}', extract(epoch FROM clock_timestamp()) * 1000)"
        );
        cluster.database.execute(&insert).await;
    }
    eventually("the commands are discarded", async || {
        (cluster.database.number(COMMAND_COUNT).await == 0).then_some(())
    })
    .await;
    let log = cluster.hubs[0]
        .process()
        .stderr_with("remote command 3 cannot be read: ")
        .await;
    assert_eq!(log.matches(" cannot be read: ").count(), 3, "{log}");
    here.answer(&run, "user", "hello").await;
    assert_eq!(here.result().await, "hello");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_remote_command_without_a_notification_is_found() {
    let cluster = Cluster::start(1).await;
    let mut here = Client::connect(&cluster.hubs[0]).await;
    let run = here.start_strategy(&cluster.hubs[0], &talk(), "").await;
    here.next_question().await;
    let stop = json!({"type": "stop_run", "runId": run});
    let insert = format!(
        "INSERT INTO run_mail (run_id, body, created_at) \
         VALUES ('{run}', '{stop}', extract(epoch FROM clock_timestamp()) * 1000)"
    );
    cluster.database.execute(&insert).await;
    assert_eq!(here.failure().await.0, "CANCELLED");
    eventually("the command is removed", async || {
        (cluster.database.number(COMMAND_COUNT).await == 0).then_some(())
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_continued_at_another_hub_is_stopped_there() {
    let cluster = Cluster::start(2).await;
    let mut here = Client::connect(&cluster.hubs[0]).await;
    let run = here.start_strategy(&cluster.hubs[0], &talk(), "").await;
    here.next_question().await;
    here.answer(&run, "user", "hello").await;
    here.result().await;
    here.unsubscribe(&run).await;
    let mut there = Client::connect(&cluster.hubs[1]).await;
    there.continue_run(&run, "").await;
    there.next_question().await;
    let stopped = cluster.hubs[0]
        .owner
        .post(&format!("/v1/runs/{run}/stop"), &json!({}))
        .await;
    assert_eq!(stopped.status, 204, "{}", stopped.text());
    assert_eq!(there.failure().await.0, "CANCELLED");
}
