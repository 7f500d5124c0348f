//! One message of every type, with all of its fields.

use countersign_protocol::runs::{ClientMessage, Decision, PolicyDefault, PolicyMode, PrepareRun, UpdatePolicy};
use serde_json::{Value, json};

pub fn owned(text: &str) -> String {
    text.to_owned()
}

/// The JSON of each message, and the parsed value.
pub fn full() -> Vec<(Value, ClientMessage)> {
    let run_id = || owned("r1");
    vec![
        (json!({"type": "ping"}), ClientMessage::Ping),
        (
            json!({"type": "prepare_run", "runId": "r1", "strategyPath": "/s.json", "modelOverride": "a/b", "cwd": "/w",
                   "manifestPath": "/m.json"}),
            ClientMessage::PrepareRun(PrepareRun {
                run_id: Some(run_id()),
                strategy_path: Some(owned("/s.json")),
                model_override: Some(owned("a/b")),
                cwd: Some(owned("/w")),
                manifest_path: Some(owned("/m.json")),
            }),
        ),
        (
            json!({"type": "start_run", "runId": "r1", "input": "tides"}),
            ClientMessage::StartRun {
                run_id: run_id(),
                input: owned("tides"),
            },
        ),
        (
            json!({"type": "continue_run", "runId": "r1", "input": ""}),
            ClientMessage::ContinueRun {
                run_id: run_id(),
                input: String::new(),
            },
        ),
        (
            json!({"type": "stop_run", "runId": "r1"}),
            ClientMessage::StopRun { run_id: run_id() },
        ),
        (
            json!({"type": "user_input", "runId": "r1", "agentName": "user", "text": "", "inputId": "i1"}),
            ClientMessage::UserInput {
                run_id: run_id(),
                agent_name: owned("user"),
                text: String::new(),
                input_id: Some(owned("i1")),
            },
        ),
        (
            json!({"type": "permission_decision", "runId": "r1", "permissionRequestId": "p1", "decision": "deny-session"}),
            ClientMessage::PermissionDecision {
                run_id: run_id(),
                permission_request_id: owned("p1"),
                decision: Decision::DenySession,
            },
        ),
        (
            json!({"type": "question_response", "runId": "r1", "questionRequestId": "q1", "response": ""}),
            ClientMessage::QuestionResponse {
                run_id: run_id(),
                question_request_id: owned("q1"),
                response: String::new(),
            },
        ),
        (
            json!({"type": "steer_run", "runId": "r1", "text": "shorter"}),
            ClientMessage::SteerRun {
                run_id: run_id(),
                text: owned("shorter"),
            },
        ),
        (
            json!({"type": "update_policy", "runId": "r1", "tool": "command", "mode": "write", "allow": ["git"],
                   "deny": ["rm", "**"], "default": "ask"}),
            ClientMessage::UpdatePolicy(UpdatePolicy {
                run_id: run_id(),
                tool: Some(owned("command")),
                mode: PolicyMode::Write,
                allow: vec![owned("git")],
                deny: vec![owned("rm"), owned("**")],
                default: Some(PolicyDefault::Ask),
            }),
        ),
        (
            json!({"type": "subscribe", "runId": "r1", "afterSeq": 7, "extensions": true}),
            ClientMessage::Subscribe {
                run_id: run_id(),
                after_seq: Some(7),
                extensions: true,
            },
        ),
        (
            json!({"type": "unsubscribe", "runId": "r1"}),
            ClientMessage::Unsubscribe { run_id: run_id() },
        ),
        (json!({"type": "list_strategies"}), ClientMessage::ListStrategies),
        (
            json!({"type": "list_runs", "cwd": "/w"}),
            ClientMessage::ListRuns { cwd: Some(owned("/w")) },
        ),
        (json!({"type": "list_providers"}), ClientMessage::ListProviders),
        (
            json!({"type": "get_available_models"}),
            ClientMessage::GetAvailableModels,
        ),
        (json!({"type": "list_mcp_servers"}), ClientMessage::ListMcpServers),
        (json!({"type": "hub_list"}), ClientMessage::HubList),
        (json!({"type": "trash_list"}), ClientMessage::TrashList),
        (json!({"type": "trash_clear"}), ClientMessage::TrashClear),
    ]
}

pub const REQUIRED: [(&str, &[&str]); 20] = [
    ("ping", &[]),
    ("prepare_run", &[]),
    ("start_run", &["runId"]),
    ("continue_run", &["runId", "input"]),
    ("stop_run", &["runId"]),
    ("user_input", &["runId", "agentName", "text"]),
    ("permission_decision", &["runId", "permissionRequestId", "decision"]),
    ("question_response", &["runId", "questionRequestId", "response"]),
    ("steer_run", &["runId", "text"]),
    ("update_policy", &["runId", "mode"]),
    ("subscribe", &["runId"]),
    ("unsubscribe", &["runId"]),
    ("list_strategies", &[]),
    ("list_runs", &[]),
    ("list_providers", &[]),
    ("get_available_models", &[]),
    ("list_mcp_servers", &[]),
    ("hub_list", &[]),
    ("trash_list", &[]),
    ("trash_clear", &[]),
];
pub const MAY_BE_EMPTY: [(&str, &str); 5] = [
    ("start_run", "input"),
    ("continue_run", "input"),
    ("user_input", "text"),
    ("question_response", "response"),
    ("update_policy", "tool"),
];
