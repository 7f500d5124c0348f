//! Client messages: every type with every possible fault.

use countersign_protocol::runs::{
    ClientMessage, Decision, PolicyMode, Received, RefusedMessage, UpdatePolicy, is_run_id, read,
};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::examples::{MAY_BE_EMPTY, REQUIRED, full, owned};

pub fn read_message(value: &Value) -> Result<Received, RefusedMessage> {
    read(value.to_string().as_bytes())
}

fn message(value: &Value) -> ClientMessage {
    read_message(value)
        .unwrap_or_else(|refused| panic!("{value}: {}", refused.message))
        .message
}

pub fn refusal(value: &Value) -> String {
    let refused = read_message(value).unwrap_err();
    assert_eq!(refused.code, "VALIDATION_ERROR", "{value}");
    refused
        .message
        .strip_prefix("Invalid message: ")
        .expect("the beginning clients know")
        .to_owned()
}

/// Every field of every type, except `type`.
fn each_field(mut check: impl FnMut(&Value, &str, &str)) {
    for (value, _) in full() {
        let kind = value["type"].as_str().unwrap();
        for key in value.as_object().unwrap().keys().filter(|key| *key != "type") {
            check(&value, kind, key);
        }
    }
}

fn with(value: &Value, key: &str, field: Value) -> Value {
    let mut value = value.clone();
    value[key] = field;
    value
}

fn without(value: &Value, key: &str) -> Value {
    let mut value = value.clone();
    value.as_object_mut().unwrap().shift_remove(key);
    value
}

#[test]
fn every_type_parses_with_all_its_fields() {
    let full = full();
    assert_eq!(
        full.iter()
            .map(|(value, _)| value["type"].as_str().unwrap())
            .collect::<Vec<_>>(),
        REQUIRED.map(|(kind, _)| kind)
    );
    for (value, expected) in full {
        assert_eq!(message(&value), expected, "{value}");
    }
}

#[test]
fn a_client_writes_what_the_hub_reads() {
    for (value, message) in full() {
        let frame = message.frame(Some("q"));
        assert_eq!(
            serde_json::from_str::<Value>(&frame).unwrap(),
            with(&value, "requestId", json!("q"))
        );
        assert_eq!(
            read(frame.as_bytes()).unwrap(),
            Received {
                request_id: Some(owned("q")),
                message: message.clone()
            }
        );
        assert_eq!(
            read(message.frame(None).as_bytes()).unwrap(),
            Received {
                request_id: None,
                message
            }
        );
    }
}

#[test]
fn a_missing_required_field_is_named() {
    each_field(|value, kind, key| {
        let is_required = REQUIRED.iter().any(|(name, keys)| *name == kind && keys.contains(&key));
        match read_message(&without(value, key)) {
            Ok(_) => assert!(!is_required, "{kind}.{key}"),
            Err(refused) => {
                assert!(is_required, "{kind}.{key}");
                assert_eq!(refused.message, format!("Invalid message: {key}: is missing"));
            }
        }
    });
}

#[test]
fn what_is_left_out_has_its_default() {
    assert_eq!(
        message(&json!({"type": "start_run", "runId": "r"})),
        ClientMessage::StartRun {
            run_id: owned("r"),
            input: String::new()
        }
    );
    assert_eq!(
        message(&json!({"type": "subscribe", "runId": "r"})),
        ClientMessage::Subscribe {
            run_id: owned("r"),
            after_seq: None,
            extensions: false
        }
    );
    assert_eq!(
        message(&json!({"type": "update_policy", "runId": "r", "mode": "read"})),
        ClientMessage::UpdatePolicy(UpdatePolicy {
            run_id: owned("r"),
            tool: None,
            mode: PolicyMode::Read,
            allow: Vec::new(),
            deny: Vec::new(),
            default: None
        })
    );
    assert_eq!(
        message(&json!({"type": "list_runs"})),
        ClientMessage::ListRuns { cwd: None }
    );
}

#[test]
fn an_empty_text_is_refused_except_in_free_text_fields() {
    each_field(|value, kind, key| {
        if !value[key].is_string() {
            return;
        }
        match read_message(&with(value, key, json!(""))) {
            Ok(_) => assert!(MAY_BE_EMPTY.contains(&(kind, key)), "{kind}.{key}"),
            Err(refused) => {
                assert!(!MAY_BE_EMPTY.contains(&(kind, key)), "{kind}.{key}");
                assert!(
                    refused.message.starts_with(&format!("Invalid message: {key}: must")),
                    "{}",
                    refused.message
                );
            }
        }
    });
    assert_eq!(
        refusal(&json!({"type": "stop_run", "runId": ""})),
        "runId: must not be empty"
    );
}

#[test]
fn null_and_wrong_types_are_refused_in_every_field() {
    each_field(|value, kind, key| {
        for wrong in [json!(null), json!({"a": 1}), json!(1.5), json!([1])] {
            let why = refusal(&with(value, key, wrong.clone()));
            assert!(
                why.starts_with(key) && why.contains("must be"),
                "{kind}.{key} {wrong}: {why}"
            );
            assert!(!why.contains("; "), "one fault, not two: {why}");
        }
    });
}

#[test]
fn unknown_fields_are_ignored() {
    for (value, expected) in full() {
        let value = with(&with(&value, "colour", json!({"deep": [1]})), "Type", json!(null));
        assert_eq!(message(&value), expected);
    }
}

#[test]
fn all_faults_of_a_message_are_reported_at_once() {
    assert_eq!(
        refusal(&json!({"type": "user_input", "agentName": "", "text": null, "inputId": 3})),
        "runId: is missing; agentName: must not be empty; text: must be a string, not null; \
         inputId: must be a string, not a number"
    );
    assert_eq!(
        refusal(&json!({"type": "permission_decision", "runId": "r", "permissionRequestId": "p", "decision": "maybe"})),
        "decision: must be one of allow, deny, allow-session, deny-session"
    );
    assert_eq!(
        refusal(&json!({"type": "update_policy", "runId": "r", "allow": ["a", 1], "deny": "b", "default": "no"})),
        "mode: is missing; allow.1: must be a string, not a number; deny: must be an array, not a string; \
         default: must be one of allow, deny, ask"
    );
    let many = json!({"type": "update_policy", "runId": "r", "mode": "read", "allow": vec![0; 500]});
    assert_eq!(refusal(&many).matches("allow.").count(), 50);
}

#[test]
fn a_prepare_names_a_run_or_a_strategy() {
    assert_eq!(
        refusal(&json!({"type": "prepare_run", "cwd": "/w"})),
        "strategyPath: prepare_run requires runId or strategyPath"
    );
    assert!(read_message(&json!({"type": "prepare_run", "runId": "r"})).is_ok());
    assert!(read_message(&json!({"type": "prepare_run", "strategyPath": "s.yaml"})).is_ok());
    for run_id in ["../x", ".hidden", "a/b", "a b", "é", "a\n", &"x".repeat(129)] {
        let why = refusal(&json!({"type": "prepare_run", "runId": run_id, "strategyPath": "s"}));
        assert!(why.starts_with("runId: must be 1 to 128 "), "{why}");
    }
    // For other messages an invalid run id is just an unknown run, and stopping an unknown run is not an error.
    assert!(read_message(&json!({"type": "stop_run", "runId": "../x"})).is_ok());
}

#[test]
fn a_run_id_is_safe_in_a_path() {
    for good in [
        "a",
        "run_abc-1.2",
        "A",
        "0",
        "-",
        "_x",
        "0198f2b4-5a2e-7c11-9d3e-000000000001",
        &"x".repeat(128),
    ] {
        assert!(is_run_id(good), "{good}");
    }
    for bad in [
        "",
        ".",
        "..",
        ".a",
        "a/b",
        "a\\b",
        "a%2f",
        "a\0",
        "ä",
        " a",
        &"x".repeat(129),
    ] {
        assert!(!is_run_id(bad), "{bad:?}");
    }
}

#[test]
fn an_unknown_type_is_reported_with_the_known_ones() {
    for kind in ["get_run", "start_strategy", "hub_publish", "PING", ""] {
        let why = refusal(&json!({"type": kind}));
        assert!(
            why.starts_with(&format!(
                "type: unknown type {kind:?}; known: ping, prepare_run, start_run"
            )),
            "{why}"
        );
    }
    assert_eq!(refusal(&json!({"runId": "r"})), "type: is missing");
    for wrong in [json!(null), json!(1), json!(["ping"])] {
        assert!(refusal(&json!({"type": wrong})).starts_with("type: must be a string, one of ping, "));
    }
    for root in [json!(null), json!([]), json!("ping"), json!(1)] {
        assert!(refusal(&root).starts_with("(root): must be an object, not "));
    }
}

#[test]
fn the_request_id_is_echoed_whenever_it_is_a_string() {
    let echoed =
        |value: Value| read_message(&value).map_or_else(|refused| refused.request_id, |received| received.request_id);
    assert_eq!(echoed(json!({"type": "ping", "requestId": "a"})), Some(owned("a")));
    assert_eq!(echoed(json!({"type": "ping", "requestId": ""})), Some(String::new()));
    assert_eq!(echoed(json!({"type": "ping"})), None);
    assert_eq!(echoed(json!({"type": "no_such", "requestId": "a"})), Some(owned("a")));
    assert_eq!(echoed(json!({"type": "stop_run", "requestId": "a"})), Some(owned("a")));
    assert_eq!(echoed(json!({"requestId": "a"})), Some(owned("a")));
    let refused = |request_id: &Value| {
        let refused = read_message(&json!({"type": "ping", "requestId": request_id})).unwrap_err();
        assert!(
            refused.message.starts_with("Invalid message: requestId: must be "),
            "{}",
            refused.message
        );
        refused.request_id
    };
    for wrong in [json!(null), json!(7), json!({"a": 1}), json!("x".repeat(4097))] {
        assert_eq!(refused(&wrong), None);
    }
    let long = "x".repeat(4096);
    assert_eq!(
        refused(&json!(long)),
        Some(long),
        "too long to be taken, and still somebody waits for it"
    );
    assert!(read_message(&json!({"type": "ping", "requestId": "x".repeat(512)})).is_ok());
}

#[test]
fn decisions_map_to_allow_and_session() {
    for decision in Decision::ALL {
        assert_eq!(Decision::parse(decision.as_str()), Some(decision));
        assert_eq!(decision.allows(), decision.as_str().starts_with("allow"));
        assert_eq!(decision.is_for_the_session(), decision.as_str().ends_with("-session"));
    }
    assert_eq!(Decision::parse("Allow"), None);
}

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        ".{0,8}".prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 16, 4, |inner| {
        prop::collection::vec(inner, 0..4).prop_map(Value::from)
    })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(1000) })]

    #[test]
    fn any_bytes_are_parsed_or_refused(bytes in any::<Vec<u8>>()) {
        drop(read(&bytes));
    }

    /// For any value in any field, a refusal names the field, and a parsed message survives a round trip.
    #[test]
    fn any_value_in_any_field_is_parsed_or_refused(
        which in any::<prop::sample::Index>(), place in any::<prop::sample::Index>(), field in any_json(),
    ) {
        let (value, _) = full().swap_remove(which.index(14));
        let keys: Vec<&String> = value.as_object().unwrap().keys().collect();
        let key = keys[place.index(keys.len())];
        match read_message(&with(&value, key, field)) {
            Ok(received) => prop_assert_eq!(read(received.message.frame(None).as_bytes()).unwrap(), received),
            Err(refused) => prop_assert!(
                refused.message.contains("(root)") || refused.message.contains(key.as_str()), "{}", refused.message
            ),
        }
    }
}
