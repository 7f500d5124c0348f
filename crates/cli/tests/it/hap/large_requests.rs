//! Large requests of one caller do not affect the others.

use std::io::{Read, Write};
use std::net::TcpStream;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::json;

use super::{TerminalAgent, terminal_token};
use crate::harness::*;

/// Opens a connection and sends an incomplete request.
fn send_partial_request(hub: &Hub, token: &str, request: &str, body: &[u8]) -> TcpStream {
    let mut stream = TcpStream::connect(hub.url.trim_start_matches("http://")).expect("the hub listens");
    let head = format!("{request}\r\nhost: localhost\r\nauthorization: Bearer {token}\r\n");
    stream
        .write_all(head.as_bytes())
        .and_then(|()| stream.write_all(body))
        .expect("sent");
    stream
}

/// Peak resident memory in KiB.
fn memory(hub: &Hub) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{}/status", hub.process().id())).expect("the hub runs");
    let line = status
        .lines()
        .find(|line| line.starts_with("VmHWM:"))
        .expect("its memory");
    line.split_whitespace()
        .nth(1)
        .and_then(|number| number.parse().ok())
        .expect("a number")
}

#[tokio::test(flavor = "multi_thread")]
async fn many_small_values_are_refused_before_they_fill_memory() {
    let hub = Hub::start().await;
    let shell = TerminalAgent::join(&hub).await;
    for (path, bytes) in [("/v1/hap/cues", 8 * 1024 * 1024), ("/v1/hap/import", 27 * 1024 * 1024)] {
        let zeros = format!("{{\"x\":[{}0]}}", "0,".repeat(bytes / 2 - 8));
        let refused = shell.api.post_bytes(path, zeros).await;
        let error = refused.refused("validation_error");
        assert!(
            error["error"]["message"]
                .as_str()
                .is_some_and(|text| text.contains("200000 values")),
            "{error}"
        );
    }
    let used = memory(&hub);
    assert!(used < 300 * 1024, "{used} KiB for 27 MiB sent");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_callers_own_byte_budget_does_not_block_others() {
    let hub = Hub::start().await;
    hub.person("alice", "resolver").await;
    let shell = TerminalAgent::join(&hub).await;
    let other = TerminalAgent::join_as(&hub, "alice").await;
    let token = terminal_token(&hub, "owner").await;
    let head = b"content-length: 28311552\r\n\r\n{\"request_id\": \"slow\", ";
    let slow = send_partial_request(&hub, &token, "POST /v1/hap/import HTTP/1.1", head);
    let large = "x".repeat(6 * 1024 * 1024);
    let refused = eventually("the byte budget is used up", async || {
        let reply = shell.post(&shell.cue_body(&large)).await;
        (reply.status == 429).then_some(reply)
    })
    .await;
    refused.refused("rate_limited");
    assert!(
        refused
            .header("retry-after")
            .parse::<u32>()
            .is_ok_and(|seconds| seconds > 0)
    );
    other.ask(&large).await;
    shell.ask("A small one?").await;
    drop(slow);
    shell.ask(&format!("{large}!")).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn unread_downloads_count_until_their_connections_close() {
    let hub = Hub::start().await;
    let shell = TerminalAgent::join(&hub).await;
    let token = terminal_token(&hub, "owner").await;
    let id = shell.ask_for_id("The dump?").await;
    let body = vec![7_u8; 8 * 1024 * 1024];
    let files = json!([{"name": "dump.bin", "data": STANDARD.encode(&body)}]);
    hub.owner
        .resolve(&id, json!({"resolution": "answered", "files": files}))
        .await
        .expect(200);
    let path = format!("/v1/hap/cues/{id}/files/0");
    let begun: Vec<TcpStream> = (0..4)
        .map(|_| {
            let mut stream = send_partial_request(&hub, &token, &format!("GET {path} HTTP/1.1"), b"\r\n");
            stream.read_exact(&mut [0; 16]).expect("the reply begins");
            stream
        })
        .collect();
    let refused = shell.api.get(&path).await;
    refused.refused("rate_limited");
    assert!(
        hub.owner.get(&format!("/v1/inbox/{id}/files/0")).await.body == body,
        "other callers get the file"
    );
    drop(begun);
    assert!(shell.api.get(&path).await.body == body);
}
