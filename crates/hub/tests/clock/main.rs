//! Behaviour that depends on the exact millisecond, on a hub with a manual clock.

#![cfg(test)]

mod presence;
mod test_hub;

use std::time::Duration;

use axum::http::StatusCode;
use serde_json::{Value, json};
use test_hub::TestHub;

const DAY: Duration = Duration::from_secs(24 * 3600);

fn expiring(hub: &TestHub, after: Duration, default: Value) -> Value {
    let mut ask = hub.ask("expiring");
    ask["expires_at"] = hub.now().plus(after).to_string().into();
    ask["request"]["default_on_expire"] = default;
    ask
}

#[tokio::test]
async fn an_answer_exactly_at_the_expiry_wins() {
    let hub = TestHub::open().await;
    let id = hub
        .submit(&expiring(&hub, Duration::from_secs(60), json!("deny")))
        .await;
    hub.advance(Duration::from_secs(60));
    let (status, body) = hub
        .resolve(&id, &json!({"resolution": "answered", "value": "approve"}))
        .await;
    assert_eq!(status, StatusCode::OK, "{body}");
    assert_eq!(body["status"], "answered");
}

#[tokio::test]
async fn an_answer_a_millisecond_later_loses_to_the_default() {
    let hub = TestHub::open().await;
    let id = hub
        .submit(&expiring(&hub, Duration::from_secs(60), json!("deny")))
        .await;
    hub.advance(Duration::from_millis(60_001));
    let (status, body) = hub
        .resolve(&id, &json!({"resolution": "answered", "value": "approve"}))
        .await;
    assert_eq!(status, StatusCode::CONFLICT);
    assert_eq!(body["error"]["code"], "already_terminal");
    assert_eq!(body["resolution"], "expired");
    let view = hub.pull(&id).await.1;
    assert_eq!(view["response"]["defaulted"], true);
    assert_eq!(view["response"]["response"]["value"], "deny");
    assert_eq!(view["response"]["response"]["actor"], "system:default_on_expire");
}

#[tokio::test]
async fn first_read_of_an_overdue_message_expires_it() {
    let hub = TestHub::open().await;
    let id = hub.submit(&expiring(&hub, Duration::from_secs(60), Value::Null)).await;
    hub.advance(Duration::from_millis(60_001));
    let view = hub.pull(&id).await.1;
    assert_eq!(view["status"], "expired");
    assert_eq!(view["response"]["defaulted"], false);
    assert_eq!(view["response"]["response"]["actor"], "system:expired");
    assert!(view["response"]["response"].get("value").is_none());
}

#[tokio::test]
async fn cancel_after_the_expiry_gets_the_real_outcome() {
    let hub = TestHub::open().await;
    let id = hub
        .submit(&expiring(&hub, Duration::from_secs(60), json!("deny")))
        .await;
    hub.advance(Duration::from_millis(60_001));
    let (status, body) = hub.cancel(&id).await;
    assert_eq!(status, StatusCode::CONFLICT);
    assert_eq!(
        (&body["status"], &body["resolution"]),
        (&json!("expired"), &json!("expired"))
    );
}

#[tokio::test]
async fn a_replay_after_the_expiry_still_gets_its_ack() {
    let hub = TestHub::open().await;
    let ask = expiring(&hub, Duration::from_secs(60), json!("deny"));
    let id = hub.submit(&ask).await;
    hub.advance(Duration::from_secs(120));
    hub.pull(&id).await;
    let (status, ack) = hub.post_message(&ask).await;
    assert_eq!(status, StatusCode::ACCEPTED, "{ack}");
    assert_eq!((&ack["id"], &ack["status"]), (&json!(id), &json!("expired")));
}

#[tokio::test]
async fn purged_message_is_gone_for_its_agent_and_unknown_to_others() {
    let hub = TestHub::open().await;
    let ask = hub.ask("kept for thirty days");
    let id = hub.submit(&ask).await;
    hub.resolve(&id, &json!({"resolution": "answered", "value": "approve"}))
        .await;
    for _ in 0..30 {
        hub.advance(DAY);
        assert!(hub.purge(DAY * 30).await);
    }
    assert_eq!(hub.pull(&id).await.0, StatusCode::OK);
    hub.advance(DAY);
    assert!(hub.purge(DAY * 30).await);
    let (status, body) = hub.pull(&id).await;
    assert_eq!((status, &body["error"]["code"]), (StatusCode::GONE, &json!("gone")));
    assert_eq!(hub.pull_as_stranger(&id).await.0, StatusCode::NOT_FOUND);
    let (status, ack) = hub.post_message(&ask).await;
    assert_eq!(status, StatusCode::ACCEPTED);
    assert_ne!(ack["id"], json!(id), "the key is free again once the message is gone");
}

#[tokio::test]
async fn start_with_a_clock_forty_days_ahead_purges_nothing() {
    let mut hub = TestHub::open().await;
    let id = hub.submit(&hub.ask("young")).await;
    hub.resolve(&id, &json!({"resolution": "answered", "value": "approve"}))
        .await;
    hub.advance(DAY * 40);
    hub.restart();
    assert!(!hub.purge(DAY * 30).await);
    hub.submit(&hub.ask("sent while the clock is wrong")).await;
    hub.restart();
    assert!(!hub.purge(DAY * 30).await, "nor does the next start");
    assert_eq!(hub.pull(&id).await.0, StatusCode::OK);
    hub.advance(DAY);
    assert!(hub.purge(DAY * 30).await, "a day later the clock is believed");
    assert_eq!(hub.pull(&id).await.0, StatusCode::GONE);
}
