use serde::de::IgnoredAny;
use serde_json::Value;

use super::client::{
    ClientMessage, Decision, PolicyDefault, PolicyMode, PrepareRun, Received, RefusedMessage, UpdatePolicy,
};
use super::fault::{FaultList, FaultPath, shown};
use super::is_run_id;
use super::not_offered;
use super::object::{MAX_SAFE, Object, TextRule};
use super::request_id;
use crate::json;

const KIB: usize = 1024;
const SHORT: TextRule = TextRule {
    may_be_empty: false,
    max_bytes: 4 * KIB,
};
const PATTERN: TextRule = TextRule {
    may_be_empty: true,
    max_bytes: 4 * KIB,
};
const REQUEST_ID: TextRule = TextRule {
    may_be_empty: true,
    max_bytes: 512,
};
/// Texts written by people and agents.
const LONG: TextRule = TextRule {
    may_be_empty: true,
    max_bytes: KIB * KIB,
};
const LONG_NOT_EMPTY: TextRule = TextRule {
    may_be_empty: false,
    max_bytes: KIB * KIB,
};
const MAX_PATTERNS: usize = 1000;

const TYPES: [&str; 20] = [
    "ping",
    "prepare_run",
    "start_run",
    "continue_run",
    "stop_run",
    "user_input",
    "permission_decision",
    "question_response",
    "steer_run",
    "update_policy",
    "subscribe",
    "unsubscribe",
    "list_strategies",
    "list_runs",
    "list_providers",
    "get_available_models",
    "list_mcp_servers",
    "hub_list",
    "trash_list",
    "trash_clear",
];

/// Parses one message, from a text or a binary frame. Unknown fields are ignored.
pub fn read(bytes: &[u8]) -> Result<Received, RefusedMessage> {
    let value = json::parse(bytes).map_err(|error| not_json(bytes, &error))?;
    if let Some(message) = value.get("type").and_then(Value::as_str).and_then(not_offered::refusal) {
        return Err(refused(not_offered::CODE, message, bytes));
    }
    let faults = FaultList::default();
    let object = Object::of(&value, FaultPath::Root, &faults);
    let request_id = object.and_then(|object| object.optional_text("requestId", REQUEST_ID));
    let message = object.and_then(|object| message(&object));
    let faults: Vec<String> = faults.into_list().iter().map(ToString::to_string).collect();
    match message {
        Some(message) if faults.is_empty() => Ok(Received { request_id, message }),
        Some(_) | None => {
            let message = format!("Invalid message: {}", faults.join("; "));
            Err(refused("VALIDATION_ERROR", message, bytes))
        }
    }
}

fn refused(code: &'static str, message: String, bytes: &[u8]) -> RefusedMessage {
    RefusedMessage {
        code,
        message,
        request_id: request_id::of(bytes),
    }
}

/// JSON that only a lenient parser accepts gets a validation error with its request id, because its sender waits for a
/// reply.
fn not_json(bytes: &[u8], error: &json::JsonError) -> RefusedMessage {
    match error {
        json::JsonError::Refused { message } if serde_json::from_slice::<IgnoredAny>(bytes).is_ok() => {
            refused("VALIDATION_ERROR", format!("Invalid message: (root): {message}"), bytes)
        }
        json::JsonError::Refused { .. } | json::JsonError::NotUtf8 { .. } => RefusedMessage {
            code: "PARSE_ERROR",
            message: "Invalid JSON".to_owned(),
            request_id: None,
        },
    }
}

fn message(object: &Object<'_>) -> Option<ClientMessage> {
    let run_id = || object.text("runId", SHORT);
    let message = match object.required("type")?.as_str() {
        Some("ping") => ClientMessage::Ping,
        Some("prepare_run") => ClientMessage::PrepareRun(prepare_run(object)),
        Some("start_run") => ClientMessage::StartRun {
            run_id: run_id(),
            input: object.optional_text("input", LONG).unwrap_or_default(),
        },
        Some("continue_run") => ClientMessage::ContinueRun {
            run_id: run_id(),
            input: object.text("input", LONG),
        },
        Some("stop_run") => ClientMessage::StopRun { run_id: run_id() },
        Some("user_input") => user_input(object),
        Some("permission_decision") => ClientMessage::PermissionDecision {
            run_id: run_id(),
            permission_request_id: object.text("permissionRequestId", SHORT),
            decision: object.word("decision", &Decision::ALL.map(|decision| (decision.as_str(), decision))),
        },
        Some("question_response") => ClientMessage::QuestionResponse {
            run_id: run_id(),
            question_request_id: object.text("questionRequestId", SHORT),
            response: object.text("response", LONG),
        },
        Some("steer_run") => ClientMessage::SteerRun {
            run_id: run_id(),
            text: object.text("text", LONG_NOT_EMPTY),
        },
        Some("update_policy") => ClientMessage::UpdatePolicy(update_policy(object)),
        Some("subscribe") => subscribe(object),
        Some("unsubscribe") => ClientMessage::Unsubscribe { run_id: run_id() },
        Some("list_strategies") => ClientMessage::ListStrategies,
        Some("list_runs") => ClientMessage::ListRuns {
            cwd: object.optional_text("cwd", SHORT),
        },
        // Their fields narrow a list that is complete or empty here.
        Some("list_providers") => ClientMessage::ListProviders,
        Some("get_available_models") => ClientMessage::GetAvailableModels,
        Some("list_mcp_servers") => ClientMessage::ListMcpServers,
        Some("hub_list") => ClientMessage::HubList,
        Some("trash_list") => ClientMessage::TrashList,
        Some("trash_clear") => ClientMessage::TrashClear,
        Some(_) | None => return unknown_type(object),
    };
    Some(message)
}

fn unknown_type(object: &Object<'_>) -> Option<ClientMessage> {
    let known = TYPES.join(", ");
    match object.entries().get("type").and_then(Value::as_str) {
        Some(word) => object.fault("type", format!("unknown type {}; known: {known}", shown(word))),
        None => object.fault("type", format!("must be a string, one of {known}")),
    }
    None
}

fn prepare_run(object: &Object<'_>) -> PrepareRun {
    let run_id = object.optional_text("runId", SHORT);
    if run_id.as_ref().is_some_and(|run_id| !is_run_id(run_id)) {
        object.fault(
            "runId",
            "must be 1 to 128 letters, digits, '.', '_' or '-', and must not begin with '.'",
        );
    }
    if !object.has("runId") && !object.has("strategyPath") {
        object.fault("strategyPath", "prepare_run requires runId or strategyPath");
    }
    PrepareRun {
        run_id,
        strategy_path: object.optional_text("strategyPath", SHORT),
        model_override: object.optional_text("modelOverride", SHORT),
        cwd: object.optional_text("cwd", SHORT),
        manifest_path: object.optional_text("manifestPath", SHORT),
    }
}

fn user_input(object: &Object<'_>) -> ClientMessage {
    ClientMessage::UserInput {
        run_id: object.text("runId", SHORT),
        agent_name: object.text("agentName", SHORT),
        text: object.text("text", LONG),
        input_id: object.optional_text("inputId", SHORT),
    }
}

fn subscribe(object: &Object<'_>) -> ClientMessage {
    ClientMessage::Subscribe {
        run_id: object.text("runId", SHORT),
        after_seq: object.whole("afterSeq", 0..=MAX_SAFE).map(i64::unsigned_abs),
        extensions: object.flag("extensions").unwrap_or_default(),
    }
}

fn update_policy(object: &Object<'_>) -> UpdatePolicy {
    const MODES: [(&str, PolicyMode); 2] = [("read", PolicyMode::Read), ("write", PolicyMode::Write)];
    const DEFAULTS: [(&str, PolicyDefault); 3] = [
        ("allow", PolicyDefault::Allow),
        ("deny", PolicyDefault::Deny),
        ("ask", PolicyDefault::Ask),
    ];
    let patterns = |key: &'static str| {
        let patterns = object.optional_texts(key, PATTERN).unwrap_or_default();
        if patterns.len() > MAX_PATTERNS {
            object.fault(key, format!("must have at most {MAX_PATTERNS} entries"));
        }
        patterns
    };
    UpdatePolicy {
        run_id: object.text("runId", SHORT),
        tool: object.optional_text("tool", PATTERN),
        mode: object.word("mode", &MODES),
        allow: patterns("allow"),
        deny: patterns("deny"),
        default: object.optional_word("default", &DEFAULTS),
    }
}
