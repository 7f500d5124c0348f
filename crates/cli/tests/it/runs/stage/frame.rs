//! Checks that hold for every frame of the hub.

use serde_json::Value;

const EVENTS: [&str; 12] = [
    "strategy_started",
    "strategy_completed",
    "strategy_error",
    "step_started",
    "step_completed",
    "agent_output",
    "agent_streaming",
    "request_input",
    "request_permission",
    "request_question",
    "policy_updated",
    "steer_queued",
];

const REPLIES: [&str; 11] = [
    "pong",
    "error",
    "run_prepared",
    "strategy_list",
    "run_list",
    "provider_list",
    "available_models",
    "mcp_server_list",
    "hub_packages",
    "trash_list_result",
    "trash_clear_result",
];

pub fn is_event(frame: &Value) -> bool {
    EVENTS.iter().any(|kind| frame["type"] == *kind)
}

/// Parses a frame and checks the rules common to all frames.
#[track_caller]
pub fn checked(text: &str) -> Value {
    let frame: Value = serde_json::from_str(text).unwrap_or_else(|error| panic!("not JSON ({error}): {text}"));
    let members = frame.as_object().unwrap_or_else(|| panic!("no object: {text}"));
    assert!(is_timestamp(&frame["ts"]), "ts is UTC with milliseconds: {frame}");
    if let Some(request_id) = members.get("requestId") {
        assert!(request_id.is_string(), "requestId is text or absent: {frame}");
    }
    assert!(
        members.values().all(|value| !value.is_null()),
        "no member is null: {frame}"
    );
    let kind = frame["type"].as_str().unwrap_or_default();
    if is_event(&frame) {
        assert!(
            frame["seq"].as_u64().is_some_and(|seq| seq > 0),
            "an event has a seq: {frame}"
        );
        assert!(frame["runId"].is_string(), "an event belongs to a run: {frame}");
    } else {
        assert!(
            REPLIES.contains(&kind) || kind == "input_resolved",
            "a known type: {frame}"
        );
        assert!(
            !REPLIES.contains(&kind) || frame.get("seq").is_none(),
            "a reply has no seq: {frame}"
        );
    }
    frame
}

/// `2026-01-02T03:04:05.678Z`
fn is_timestamp(ts: &Value) -> bool {
    let Some(text) = ts.as_str() else { return false };
    let shape: String = text.chars().map(|c| if c.is_ascii_digit() { '0' } else { c }).collect();
    shape == "0000-00-00T00:00:00.000Z" && text.parse::<jiff::Timestamp>().is_ok()
}

#[track_caller]
pub fn seq(frame: &Value) -> u64 {
    frame["seq"].as_u64().unwrap_or_else(|| panic!("no seq: {frame}"))
}

pub fn seqs(frames: &[Value]) -> Vec<u64> {
    frames.iter().map(seq).collect()
}

/// The names of an object's members, in alphabetical order.
pub fn field_names(frame: &Value) -> Vec<&str> {
    let mut names: Vec<&str> = frame
        .as_object()
        .expect("an object")
        .keys()
        .map(String::as_str)
        .collect();
    names.sort_unstable();
    names
}

/// The frame without this member.
pub fn without(frame: &Value, member: &str) -> Value {
    let mut frame = frame.clone();
    frame.as_object_mut().expect("an object").shift_remove(member);
    frame
}

/// Queries over a list of frames.
pub trait Frames {
    fn kinds(&self) -> Vec<&str>;
    fn of_kind(&self, kind: &str) -> Vec<&Value>;
}

impl Frames for [Value] {
    fn kinds(&self) -> Vec<&str> {
        self.iter()
            .map(|frame| frame["type"].as_str().expect("a type"))
            .collect()
    }

    fn of_kind(&self, kind: &str) -> Vec<&Value> {
        self.iter().filter(|frame| frame["type"] == kind).collect()
    }
}
