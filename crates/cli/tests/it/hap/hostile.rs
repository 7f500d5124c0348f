use std::convert::Infallible;

use bytes::Bytes;
use http_body_util::StreamBody;
use hyper::body::Frame;
use serde_json::{Value, json};

use super::TerminalAgent;
use crate::harness::*;

#[tokio::test(flavor = "multi_thread")]
async fn hostile_bodies_are_refused_and_nothing_is_stored() {
    let hub = Hub::start().await;
    let shell = TerminalAgent::join(&hub).await;
    let with = |member: &str| format!("{{\"agent_id\":\"{}\",\"kind\":\"cue\",{member}}}", shell.agent_id).into_bytes();
    let deep = |open: &str, close: &str| format!("{}1{}", open.repeat(100), close.repeat(100));
    let bodies: Vec<(&str, Vec<u8>)> = vec![
        ("nothing", Vec::new()),
        ("a bomb", vec![b'['; 1_000_000]),
        (
            "a deep payload",
            with(&format!("\"prompt\":\"x\",\"payload\":{}", deep("{\"a\":", "}"))),
        ),
        (
            "a deep list in a payload",
            with(&format!("\"prompt\":\"x\",\"payload\":{{\"a\":{}}}", deep("[", "]"))),
        ),
        ("invalid UTF-8", [with("\"prompt\":\"").as_slice(), b"\xff\"}"].concat()),
        ("the null character", with(r#""prompt":"a\u0000b""#)),
        ("a lone surrogate", with(r#""prompt":"\ud800""#)),
        ("a key twice", with(r#""prompt":"x","prompt":"y""#)),
        ("a list", b"[]".to_vec()),
    ];
    for (name, body) in bodies {
        let reply = shell.api.post_bytes("/v1/hap/cues", body).await;
        assert_eq!(reply.status, 400, "{name}: {}", reply.text());
        assert!(reply.body.len() < 2000, "{name}: an error does not echo the input");
    }
    assert_eq!(hub.owner.get("/v1/inbox").await.expect(200)["items"], json!([]));
}

#[tokio::test(flavor = "multi_thread")]
async fn an_invalid_value_is_refused_with_its_field() {
    let hub = Hub::start().await;
    let shell = TerminalAgent::join(&hub).await;
    for (field, value) in [
        ("agent_id", json!("")),
        ("agent_id", json!("two words")),
        ("agent_id", json!("a#b")),
        ("agent_id", json!("x".repeat(201))),
        ("agent_id", json!(7)),
        ("kind", json!("notify")),
        ("kind", Value::Null),
        ("prompt", json!(" \n\t")),
        ("prompt", json!(["x"])),
        ("payload", json!("choice")),
        ("payload", json!({"type": "choice", "options": ["x".repeat(300_000)]})),
        ("runtime", json!("a/b")),
        ("project_dir", json!("x".repeat(4097))),
        ("terminal", json!("zsh\u{1b}[31m")),
    ] {
        let mut body = shell.cue_body("x");
        body[field] = value;
        shell.post(&body).await.refused_field("invalid_field", field);
    }
    assert_eq!(hub.owner.get("/v1/inbox").await.expect(200)["items"], json!([]));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cue_is_limited_to_eight_megabytes() {
    let hub = Hub::start().await;
    let shell = TerminalAgent::join(&hub).await;
    let overhead = shell.cue_body("").to_string().len();
    let fits = shell.cue_body(&"x".repeat(8 * 1024 * 1024 - overhead));
    shell.post(&fits).await.expect(201);
    let pieces = (0..130).map(|_| Ok::<_, Infallible>(Frame::data(Bytes::from(vec![b' '; 64 * 1024]))));
    let chunked = reqwest::Body::wrap(StreamBody::new(futures_util::stream::iter(pieces)));
    let request = shell.api.request(reqwest::Method::POST, "/v1/hap/cues").body(chunked);
    Api::send(request).await.refused("invalid_field");
    hub.owner.healthy().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hostile_prompt_is_stored_unchanged_and_shown_safely() {
    let hub = Hub::start().await;
    let shell = TerminalAgent::join(&hub).await;
    let prompt = "<script>alert(1)</script>\r\n\u{202e}txt.exe \u{1b}[31m ![x](http://evil.example/x.png)";
    let id = shell.ask_for_id(prompt).await;
    assert_eq!(hub.owner.get(&format!("/v1/inbox/{id}/prompt")).await.text(), prompt);
    hub.cli(&["show", &id]).ok();
}

#[tokio::test(flavor = "multi_thread")]
async fn the_terminals_of_one_person_share_a_rate_limit() {
    let hub = Setup::default()
        .config("[limits]\nrequests_per_minute = 3\n")
        .start()
        .await;
    hub.person("alice", "resolver").await;
    let mine = TerminalAgent::join(&hub).await;
    let other = TerminalAgent::join_as(&hub, "alice").await;
    mine.ask("One?").await;
    mine.ask("Two?").await;
    let mut body = mine.cue_body("Three?");
    body["agent_id"] = json!("another-name");
    let refused = mine.post(&body).await;
    refused.refused("rate_limited");
    assert!(
        refused
            .header("retry-after")
            .parse::<u32>()
            .is_ok_and(|seconds| seconds > 0)
    );
    other.ask("One?").await;
}
