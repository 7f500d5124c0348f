//! Whether the process that asked is still there.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};

use crate::desk::Desk;

const MILLISECOND: Duration = Duration::from_millis(1);

fn words(prompt: &str) -> Value {
    json!({"agent_id": "bamolodo", "kind": "cue", "prompt": prompt})
}

async fn state(desk: &Desk, id: &str) -> Value {
    desk.item(id).await["presence"]["state"].clone()
}

fn id(ack: &Value) -> String {
    ack["id"].as_str().expect("an id").to_owned()
}

#[tokio::test]
async fn whoever_has_just_asked_has_three_seconds_to_begin_to_wait() {
    let desk = Desk::open().await;
    let id = id(&desk.cue(&words("One?")).await);
    desk.pass(Duration::from_secs(3) - MILLISECOND);
    assert_eq!(state(&desk, &id).await, "waiting");
    desk.pass(MILLISECOND);
    let presence = desk.item(&id).await["presence"].clone();
    let left_at = desk.now().minus(Duration::from_secs(3)).to_string();
    assert_eq!(presence, json!({"state": "gone", "since": left_at}));
}

#[tokio::test]
async fn between_two_waits_nobody_is_gone_for_three_seconds() {
    let desk = Desk::open().await;
    let id = id(&desk.cue(&words("One?")).await);
    desk.pass(Duration::from_secs(2));
    assert_eq!(desk.look(&id, 1).await["status"], "open");
    desk.pass(Duration::from_secs(3) - MILLISECOND);
    assert_eq!(state(&desk, &id).await, "waiting");
    desk.pass(MILLISECOND);
    assert_eq!(state(&desk, &id).await, "gone");
    let next = desk.cue(&words("Two?")).await;
    assert_eq!(next["superseded"], json!([id]));
}

#[tokio::test]
async fn a_connection_counts_for_as_long_as_it_is_held_and_not_a_moment_longer_once_it_breaks() {
    let desk = Arc::new(Desk::open().await);
    let id = id(&desk.cue(&words("One?")).await);
    let held = tokio::spawn({
        let desk = Arc::clone(&desk);
        let id = id.clone();
        async move { desk.look(&id, 60).await }
    });
    while desk.item(&id).await["waiting_now"] != true {
        tokio::task::yield_now().await;
    }
    desk.pass(Duration::from_secs(3600));
    assert_eq!(state(&desk, &id).await, "waiting");
    held.abort();
    assert!(held.await.is_err_and(|error| error.is_cancelled()));
    assert_eq!(state(&desk, &id).await, "gone", "without any time passing");
}

#[tokio::test]
async fn after_a_start_everybody_has_ten_seconds_to_come_back() {
    let mut desk = Desk::open().await;
    let id = id(&desk.cue(&words("One?")).await);
    desk.pass(Duration::from_secs(3600));
    desk.restart();
    desk.pass(Duration::from_secs(10) - MILLISECOND);
    assert_eq!(state(&desk, &id).await, "waiting");
    let queued = desk.cue(&words("Two?")).await;
    assert_eq!(
        (&queued["superseded"], &queued["queued_behind"]),
        (&json!([]), &json!(1))
    );
    desk.pass(MILLISECOND);
    assert_eq!(state(&desk, &id).await, "gone");
    let next = desk.cue(&words("Three?")).await;
    assert_eq!((&next["superseded"], &next["queued_behind"]), (&json!([id]), &json!(1)));
}

#[tokio::test]
async fn whoever_asked_elsewhere_is_gone_from_the_start() {
    let desk = Desk::open().await;
    let mut before = words("One?");
    before["request_id"] = json!("req_1");
    before["created_at"] = json!(desk.now().minus(Duration::from_secs(60)).to_string());
    let id = id(&desk.import(&before).await);
    assert_eq!(
        desk.item(&id).await["presence"],
        json!({"state": "gone", "since": before["created_at"]})
    );
    let next = desk.cue(&words("Two?")).await;
    assert_eq!(next["superseded"], json!([id]));
}

#[tokio::test]
async fn an_answer_is_left_to_whoever_waits_for_it_and_kept_three_seconds_later() {
    let mut desk = Desk::open().await;
    let id = id(&desk.cue(&words("One?")).await);
    let (status, _) = desk
        .resolve(&id, &json!({"resolution": "answered", "value": "yes"}))
        .await;
    assert!(status.is_success());
    desk.pass(Duration::from_secs(2));
    assert_eq!(desk.look(&id, 1).await["status"], "answered");
    desk.pass(Duration::from_secs(3) - MILLISECOND);
    assert!(desk.kept().await.is_empty(), "it is being printed");
    desk.pass(MILLISECOND);
    assert_eq!(desk.kept().await.len(), 1, "it was not collected");
    desk.look(&id, 0).await;
    assert!(desk.kept().await.is_empty());
    desk.restart();
    assert_eq!(
        desk.kept().await.len(),
        1,
        "a hub that knows of nobody leaves nothing to them"
    );
}
