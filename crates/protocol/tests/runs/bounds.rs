//! Messages at and beyond their limits.

use countersign_protocol::runs::{ClientMessage, RefusedMessage, read};
use serde_json::json;

use crate::examples::owned;
use crate::messages::{read_message, refusal};

#[test]
fn texts_are_bounded() {
    let mib = 1024 * 1024;
    let answer =
        |bytes: usize| json!({"type": "user_input", "runId": "r", "agentName": "a", "text": "x".repeat(bytes)});
    assert!(read_message(&answer(mib)).is_ok());
    assert_eq!(
        refusal(&answer(mib + 1)),
        "text: must be at most 1048576 bytes, not 1048577"
    );
    let stop = |bytes: usize| json!({"type": "stop_run", "runId": "x".repeat(bytes)});
    assert!(read_message(&stop(4096)).is_ok());
    assert_eq!(refusal(&stop(4097)), "runId: must be at most 4096 bytes, not 4097");
    let policy =
        |patterns: usize| json!({"type": "update_policy", "runId": "r", "mode": "read", "deny": vec!["x"; patterns]});
    assert!(read_message(&policy(1000)).is_ok());
    assert_eq!(refusal(&policy(1001)), "deny: must have at most 1000 entries");
}

#[test]
fn a_seq_is_a_non_negative_integer() {
    let after = |seq: &str| read(format!(r#"{{"type":"subscribe","runId":"r","afterSeq":{seq}}}"#).as_bytes());
    for (text, seq) in [
        ("0", 0),
        ("7.0", 7),
        ("1e3", 1000),
        ("9007199254740991", 9_007_199_254_740_991),
    ] {
        let expected = ClientMessage::Subscribe {
            run_id: owned("r"),
            after_seq: Some(seq),
            extensions: false,
        };
        assert_eq!(after(text).unwrap().message, expected);
    }
    for text in [
        "-1",
        "1.5",
        "9007199254740992",
        "18446744073709551615",
        "1e300",
        "\"7\"",
        "null",
    ] {
        let message = after(text).unwrap_err().message;
        assert!(
            message.contains("afterSeq: must be a whole number from 0 to 9007199254740991"),
            "{message}"
        );
    }
}

#[test]
fn garbage_is_reported_as_invalid_json() {
    for bytes in [
        &b""[..],
        b"hello",
        b"{",
        b"{\"type\":\"ping\"",
        b"\xff\xfe",
        b"\x00\x01",
        b"{'type':'ping'}",
        b"{}{}",
    ] {
        let expected = RefusedMessage {
            code: "PARSE_ERROR",
            message: owned("Invalid JSON"),
            request_id: None,
        };
        assert_eq!(read(bytes).unwrap_err(), expected);
    }
}

#[test]
fn ambiguous_json_is_refused_with_the_reason() {
    let deep = format!(
        r#"{{"type":"ping","x":{}{},"requestId":"a"}}"#,
        "[".repeat(1000),
        "]".repeat(1000)
    );
    for (text, why) in [
        (
            r#"{"type":"ping","type":"stop_run","requestId":"a"}"#,
            r#"the key "type" comes twice"#,
        ),
        (
            r#"{"type":"ping","requestId":"b","requestId":"a"}"#,
            r#"the key "requestId" comes twice"#,
        ),
        (
            r#"{"type":"user_input","requestId":"a","text":"\u0000"}"#,
            "the character U+0000",
        ),
        (deep.as_str(), "nested deeper than 64"),
        (r#"{"type":"ping","x":1e400,"requestId":"a"}"#, "number out of range"),
    ] {
        let refused = read(text.as_bytes()).unwrap_err();
        assert_eq!(
            (refused.code, refused.request_id.as_deref()),
            ("VALIDATION_ERROR", Some("a")),
            "{why}"
        );
        assert!(
            refused.message.starts_with(&format!("Invalid message: (root): {why}")),
            "{}",
            refused.message
        );
    }
    assert_eq!(read(b"[[1e400]]").unwrap_err().request_id, None);
    assert_eq!(
        read("[".repeat(1_000_000).as_bytes()).unwrap_err().message,
        "Invalid JSON"
    );
}

#[test]
fn a_binary_frame_reads_like_text() {
    let bytes = r#"{"type":"steer_run","runId":"r","text":"größer 😀"}"#.as_bytes();
    assert_eq!(
        read(bytes).unwrap().message,
        ClientMessage::SteerRun {
            run_id: owned("r"),
            text: owned("größer 😀")
        }
    );
}
