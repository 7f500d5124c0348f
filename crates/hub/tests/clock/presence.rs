//! Presence of the process that asked a cue.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};

use crate::test_hub::TestHub;

const MILLISECOND: Duration = Duration::from_millis(1);

fn cue(prompt: &str) -> Value {
    json!({"agent_id": "bamolodo", "kind": "cue", "prompt": prompt})
}

async fn state(hub: &TestHub, id: &str) -> Value {
    hub.item(id).await["presence"]["state"].clone()
}

fn id(ack: &Value) -> String {
    ack["id"].as_str().expect("an id").to_owned()
}

#[tokio::test]
async fn new_cue_has_three_seconds_to_start_waiting() {
    let hub = TestHub::open().await;
    let id = id(&hub.cue(&cue("One?")).await);
    hub.advance(Duration::from_secs(3) - MILLISECOND);
    assert_eq!(state(&hub, &id).await, "waiting");
    hub.advance(MILLISECOND);
    let presence = hub.item(&id).await["presence"].clone();
    let left_at = hub.now().minus(Duration::from_secs(3)).to_string();
    assert_eq!(presence, json!({"state": "gone", "since": left_at}));
}

#[tokio::test]
async fn process_counts_as_present_for_three_seconds_between_two_waits() {
    let hub = TestHub::open().await;
    let id = id(&hub.cue(&cue("One?")).await);
    hub.advance(Duration::from_secs(2));
    assert_eq!(hub.poll(&id, 1).await["status"], "open");
    hub.advance(Duration::from_secs(3) - MILLISECOND);
    assert_eq!(state(&hub, &id).await, "waiting");
    hub.advance(MILLISECOND);
    assert_eq!(state(&hub, &id).await, "gone");
    let next = hub.cue(&cue("Two?")).await;
    assert_eq!(next["superseded"], json!([id]));
}

#[tokio::test]
async fn open_connection_counts_as_present_until_it_breaks() {
    let hub = Arc::new(TestHub::open().await);
    let id = id(&hub.cue(&cue("One?")).await);
    let held = tokio::spawn({
        let hub = Arc::clone(&hub);
        let id = id.clone();
        async move { hub.poll(&id, 60).await }
    });
    while hub.item(&id).await["waiting_now"] != true {
        tokio::task::yield_now().await;
    }
    hub.advance(Duration::from_secs(3600));
    assert_eq!(state(&hub, &id).await, "waiting");
    held.abort();
    assert!(held.await.is_err_and(|error| error.is_cancelled()));
    assert_eq!(state(&hub, &id).await, "gone", "without any time passing");
}

#[tokio::test]
async fn after_a_restart_processes_have_ten_seconds_to_reconnect() {
    let mut hub = TestHub::open().await;
    let id = id(&hub.cue(&cue("One?")).await);
    hub.advance(Duration::from_secs(3600));
    hub.restart();
    hub.advance(Duration::from_secs(10) - MILLISECOND);
    assert_eq!(state(&hub, &id).await, "waiting");
    let queued = hub.cue(&cue("Two?")).await;
    assert_eq!(
        (&queued["superseded"], &queued["queued_behind"]),
        (&json!([]), &json!(1))
    );
    hub.advance(MILLISECOND);
    assert_eq!(state(&hub, &id).await, "gone");
    let next = hub.cue(&cue("Three?")).await;
    assert_eq!((&next["superseded"], &next["queued_behind"]), (&json!([id]), &json!(1)));
}

#[tokio::test]
async fn imported_cue_is_gone_from_the_start() {
    let hub = TestHub::open().await;
    let mut before = cue("One?");
    before["request_id"] = json!("req_1");
    before["created_at"] = json!(hub.now().minus(Duration::from_secs(60)).to_string());
    let id = id(&hub.import(&before).await);
    assert_eq!(
        hub.item(&id).await["presence"],
        json!({"state": "gone", "since": before["created_at"]})
    );
    let next = hub.cue(&cue("Two?")).await;
    assert_eq!(next["superseded"], json!([id]));
}

#[tokio::test]
async fn answer_is_reserved_for_its_waiter_and_uncollected_three_seconds_later() {
    let mut hub = TestHub::open().await;
    let id = id(&hub.cue(&cue("One?")).await);
    let (status, _) = hub
        .resolve(&id, &json!({"resolution": "answered", "value": "yes"}))
        .await;
    assert!(status.is_success());
    hub.advance(Duration::from_secs(2));
    assert_eq!(hub.poll(&id, 1).await["status"], "answered");
    hub.advance(Duration::from_secs(3) - MILLISECOND);
    assert!(hub.uncollected().await.is_empty(), "it is being printed");
    hub.advance(MILLISECOND);
    assert_eq!(hub.uncollected().await.len(), 1, "it was not collected");
    hub.poll(&id, 0).await;
    assert!(hub.uncollected().await.is_empty());
    hub.restart();
    assert_eq!(
        hub.uncollected().await.len(),
        1,
        "a restarted hub knows no waiters and reserves nothing"
    );
}
