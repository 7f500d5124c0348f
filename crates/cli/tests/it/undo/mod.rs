//! Undo: a decision in an inbox is on hold for some seconds, can be taken back, and its agent learns nothing of it.

mod agents;
mod browser;
mod crash;
mod cues;
mod expiry;
mod nodes;
mod people;
mod races;
mod runs;
mod screen;
mod web;

use serde_json::{Value, json};

use crate::harness::*;

/// Longer than any test: such a hold ends only by being taken back.
const LONG: u32 = 20;
const SHORT: u32 = 1;

fn with_undo(seconds: u32) -> Setup {
    Setup::default().config(&format!("undo_seconds = {seconds}\n"))
}

/// Answers as the terminal inbox does, and returns the hold.
async fn hold(api: &Api, id: &str, value: &str) -> Value {
    let body = json!({"resolution": "answered", "value": value, "hold": true});
    let held = api.resolve(id, body).await.expect(202);
    assert_eq!((&held["id"], &held["status"]), (&json!(id), &json!("open")), "{held}");
    held["held"].clone()
}

async fn undo(api: &Api, id: &str) -> Reply {
    api.post_bytes(&format!("/v1/inbox/{id}/undo"), "").await
}

/// The response of an answered message.
fn response(message: &Value) -> &Value {
    &message["response"]["response"]
}

fn time(value: &Value) -> jiff::Timestamp {
    value.as_str().and_then(|text| text.parse().ok()).expect("a time")
}
