//! Invalid messages on the run socket, and their errors.

use serde_json::{Value, json};
use tokio_tungstenite::tungstenite::Message;

use super::stage::*;
use crate::harness::*;

#[tokio::test(flavor = "multi_thread")]
async fn invalid_json_is_refused_and_the_connection_survives() {
    let hub = Hub::start().await;
    let mut client = Client::connect(&hub).await;
    for text in [
        "",
        "hello",
        "{",
        "{\"type\":\"ping\"",
        "{\"type\":\"ping\"}}",
        "\u{feff}{",
        "nul",
    ] {
        client.send_text(text).await;
        let error = client.expect("error").await;
        assert_eq!(
            field_names(&error),
            ["code", "message", "ts", "type"],
            "{text:.40}: {error}"
        );
        assert_eq!(error["code"], "PARSE_ERROR", "{text:.40}: {error}");
        let message = error["message"].as_str().expect("a message");
        assert!(
            message.starts_with("Invalid JSON") && message.len() < 200,
            "{text:.40}: {message}"
        );
        client.expect_silence().await;
    }
}

/// The sender considers the JSON valid and waits for a reply to its request id.
#[tokio::test(flavor = "multi_thread")]
async fn json_refused_only_by_strict_rules_echoes_its_request_id() {
    let hub = Hub::start().await;
    let mut client = Client::connect(&hub).await;
    let deep = format!(
        r#"{{"requestId":"r","x":{}{}}}"#,
        "[".repeat(100_000),
        "]".repeat(100_000)
    );
    let zero = r#"{"type":"user_input","runId":"x","agentName":"a","text":"\u0000","requestId":"r"}"#;
    let twice = r#"{"type":"ping","type":"stop_run","requestId":"r"}"#;
    for text in [&deep, zero, twice] {
        client.send_text(text).await;
        let error = client.expect("error").await;
        assert_eq!(
            (&error["code"], &error["requestId"]),
            (&json!("VALIDATION_ERROR"), &json!("r")),
            "{error}"
        );
        let message = error["message"].as_str().expect("a message");
        assert!(
            message.starts_with("Invalid message: (root): ") && message.len() < 200,
            "{message}"
        );
    }
    client.expect_silence().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_binary_frame_is_read_like_text() {
    let hub = Hub::start().await;
    let mut client = Client::connect(&hub).await;
    client
        .send_raw(Message::binary(br#"{"type":"ping","requestId":"b"}"#.to_vec()))
        .await;
    assert_eq!(client.expect("pong").await["requestId"], "b");
    for garbage in [&b"\xff\xfe\x00"[..], b"", b"{\"type\":\"ping\xff\"}"] {
        client.send_raw(Message::binary(garbage.to_vec())).await;
        assert_eq!(client.expect("error").await["code"], "PARSE_ERROR", "{garbage:?}");
    }
    client.expect_silence().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_unknown_or_outdated_type_is_refused() {
    let hub = Hub::start().await;
    let mut client = Client::connect(&hub).await;
    for kind in [
        "get_run",
        "start_strategy",
        "cancel_run",
        "hub_publish",
        "PING",
        "",
        "pong",
    ] {
        let refusal = client
            .refused(json!({"type": kind, "runId": "x"}), "VALIDATION_ERROR")
            .await;
        assert!(refusal.starts_with("Invalid message: type: "), "{kind}: {refusal}");
    }
    for frame in [
        json!({}),
        json!([]),
        json!(7),
        json!("ping"),
        Value::Null,
        json!({"type": 7}),
        json!({"type": null}),
    ] {
        client.send(frame.clone()).await;
        let error = client.expect("error").await;
        assert_eq!(error["code"], "VALIDATION_ERROR", "{frame}: {error}");
        assert!(
            error["message"].as_str().unwrap().starts_with("Invalid message: "),
            "{frame}: {error}"
        );
    }
    client.expect_silence().await;
}

/// Every message type with each of its members missing, empty or of the wrong type.
#[tokio::test(flavor = "multi_thread")]
async fn a_missing_empty_or_mistyped_member_is_named() {
    let hub = Hub::start().await;
    let mut client = Client::connect(&hub).await;
    let run = |kind: &str| json!({"type": kind, "runId": "r"});
    let input = json!({"type": "user_input", "runId": "r", "agentName": "a", "text": "t"});
    let decision =
        json!({"type": "permission_decision", "runId": "r", "permissionRequestId": "p", "decision": "allow"});
    let response = json!({"type": "question_response", "runId": "r", "questionRequestId": "q", "response": "x"});
    let policy = json!({"type": "update_policy", "runId": "r", "mode": "write"});
    let steer = json!({"type": "steer_run", "runId": "r", "text": "t"});
    let continue_run = json!({"type": "continue_run", "runId": "r", "input": "i"});
    let prepare = json!({"type": "prepare_run", "strategyPath": "p"});
    let absent = json!("(absent)");
    let empty = json!("");
    let null = Value::Null;
    for (message, field, values) in [
        (&run("start_run"), "runId", vec![&absent, &empty, &null]),
        (&run("start_run"), "input", vec![&null]),
        (&continue_run, "runId", vec![&absent, &empty]),
        (&continue_run, "input", vec![&absent, &null]),
        (&run("stop_run"), "runId", vec![&absent, &empty, &null]),
        (&run("subscribe"), "runId", vec![&absent, &empty]),
        (&run("subscribe"), "afterSeq", vec![&null, &empty]),
        (&run("unsubscribe"), "runId", vec![&absent, &empty]),
        (&input, "runId", vec![&absent, &empty, &null]),
        (&input, "agentName", vec![&absent, &empty, &null]),
        (&input, "text", vec![&absent, &null]),
        (&input, "inputId", vec![&null]),
        (&decision, "permissionRequestId", vec![&absent, &empty]),
        (&decision, "decision", vec![&absent, &empty, &null]),
        (&response, "questionRequestId", vec![&absent, &empty]),
        (&response, "response", vec![&absent, &null]),
        (&steer, "text", vec![&absent, &empty]),
        (&policy, "mode", vec![&absent, &empty, &null]),
        (&policy, "allow", vec![&null, &empty]),
        (&policy, "default", vec![&null, &empty]),
        (&prepare, "strategyPath", vec![&empty, &null]),
        (&prepare, "cwd", vec![&empty, &null]),
        (&prepare, "modelOverride", vec![&empty, &null]),
        (&prepare, "manifestPath", vec![&empty, &null]),
        (&json!({"type": "list_runs"}), "cwd", vec![&null]),
    ] {
        for value in values {
            let mut message = message.clone();
            if value == &absent {
                message.as_object_mut().unwrap().remove(field);
            } else {
                message[field] = value.clone();
            }
            let refusal = client.refused(message.clone(), "VALIDATION_ERROR").await;
            assert!(
                refusal.starts_with(&format!("Invalid message: {field}: ")),
                "{message}: {refusal}"
            );
        }
        let mut message = message.clone();
        message[field] = json!({"an": "object"});
        let refusal = client.refused(message.clone(), "VALIDATION_ERROR").await;
        assert!(refusal.contains(&format!("{field}: ")), "{message}: {refusal}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn all_mistakes_in_a_message_are_listed_at_once() {
    let hub = Hub::start().await;
    let mut client = Client::connect(&hub).await;
    let refusal = client
        .refused(
            json!({"type": "user_input", "runId": "", "agentName": 7}),
            "VALIDATION_ERROR",
        )
        .await;
    for field in ["runId: ", "agentName: ", "text: "] {
        assert!(refusal.contains(field), "{field}: {refusal}");
    }
    assert_eq!(refusal.matches("; ").count(), 2, "{refusal}");
}

#[tokio::test(flavor = "multi_thread")]
async fn only_a_text_request_id_is_echoed() {
    let hub = Hub::start().await;
    let mut client = Client::connect(&hub).await;
    for request_id in [json!(7), Value::Null, json!({}), json!(["x"]), json!(true)] {
        client.send(json!({"type": "ping", "requestId": request_id})).await;
        let error = client.expect("error").await;
        assert_eq!(error["code"], "VALIDATION_ERROR", "{request_id}: {error}");
        assert!(error["message"].as_str().unwrap().contains("requestId: "), "{error}");
        assert!(error.get("requestId").is_none(), "{error}");
    }
    client.send(json!({"type": "ping"})).await;
    assert_eq!(field_names(&client.expect("pong").await), ["ts", "type"]);
    client.send(json!({"type": "nonsense", "requestId": "r"})).await;
    assert_eq!(
        client.expect("error").await["requestId"],
        "r",
        "even for an invalid message"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn unknown_members_are_ignored() {
    let hub = Hub::start().await;
    let mut client = Client::connect(&hub).await;
    client
        .send(json!({"type": "ping", "requestId": "x", "extra": {"deep": [1]}, "runId": 7}))
        .await;
    assert_eq!(client.expect("pong").await["requestId"], "x");
}
