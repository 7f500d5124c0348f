//! Hostile and clumsy clients of the run socket.

use serde_json::json;
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::protocol::frame::Frame;
use tokio_tungstenite::tungstenite::protocol::frame::coding::{Data, OpCode};

use super::stage::*;
use crate::harness::*;

const MAX_FRAME_BYTES: usize = (3 * 1024 + 64) * 1024;

fn padded_ping(bytes: usize) -> String {
    let overhead = r#"{"type":"ping","pad":""}"#.len();
    format!(r#"{{"type":"ping","pad":"{}"}}"#, "x".repeat(bytes - overhead))
}

#[tokio::test(flavor = "multi_thread")]
async fn an_oversized_frame_closes_only_its_own_connection() {
    let hub = Hub::start().await;
    let mut bystander = Client::connect(&hub).await;
    let run = bystander.start_strategy(&hub, &talk(), "").await;
    bystander.next_question().await;
    let mut client = Client::connect(&hub).await;
    client.send_text(&padded_ping(MAX_FRAME_BYTES)).await;
    client.expect("pong").await;
    client.try_send(Message::text(padded_ping(MAX_FRAME_BYTES + 1))).await;
    let (frames, end) = client.closed().await;
    assert!(frames.is_empty(), "{frames:?}");
    assert!(end.is_none_or(|(code, _)| code == 1009), "1009 means message too big");
    bystander.answer(&run, "user", "hello").await;
    assert_eq!(bystander.result().await, "hello");
}

/// The longest answer the inbox takes, from a client that escapes every non-ASCII character.
#[tokio::test(flavor = "multi_thread")]
async fn the_longest_answer_arrives_even_fully_escaped() {
    let hub = Hub::start().await;
    let mut client = Client::connect(&hub).await;
    let run = client.start_strategy(&hub, &talk(), "").await;
    client.next_question().await;
    let letters = "ж".repeat(512 * 1024);
    let escaped = r"\u0436".repeat(512 * 1024);
    let answer = format!(r#"{{"type":"user_input","runId":"{run}","agentName":"user","text":"{escaped}"}}"#);
    client.send_text(&answer).await;
    assert!(client.result().await == letters, "the whole answer");
}

/// Incomplete messages hold memory in the WebSocket layer, so they count against a byte budget.
#[tokio::test(flavor = "multi_thread")]
async fn incomplete_messages_share_a_byte_budget() {
    let hub = Hub::start().await;
    let mut clients = vec![];
    for _ in 0..11 {
        let mut client = Client::connect(&hub).await;
        client
            .try_send(fragment(&"x".repeat(1024 * 1024), Data::Text, false))
            .await;
        clients.push(client);
    }
    let ended = futures_util::future::select_all(clients.iter_mut().map(|client| Box::pin(client.closed())))
        .await
        .1;
    assert!(ended < 11, "one connection is closed");
    let bob = hub.person("bob", "resolver").await;
    let mut other = Dial::to(&hub).bearer(&bob.token).open().await;
    other.send_text(&padded_ping(MAX_FRAME_BYTES)).await;
    other.expect("pong").await;
}

/// A connection must not keep the buffer of its largest message.
#[tokio::test(flavor = "multi_thread")]
async fn an_idle_connection_keeps_no_memory_of_a_large_message() {
    const SOCKETS: usize = 60;
    let hub = Hub::start().await;
    let resident_kib = || {
        let status = std::fs::read_to_string(format!("/proc/{}/status", hub.process().id())).expect("Linux");
        let line = status
            .lines()
            .find_map(|line| line.strip_prefix("VmRSS:"))
            .expect("a size");
        line.trim().trim_end_matches(" kB").parse::<usize>().expect("a number")
    };
    let before = resident_kib();
    let message = padded_ping(MAX_FRAME_BYTES);
    let mut clients = vec![];
    for _ in 0..SOCKETS {
        let mut client = Client::connect(&hub).await;
        client.send_text(&message).await;
        client.expect("pong").await;
        clients.push(client);
    }
    let grown = resident_kib().saturating_sub(before);
    assert!(
        grown < SOCKETS * MAX_FRAME_BYTES / 1024 / 2,
        "{grown} KiB for {SOCKETS} idle sockets"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn connections_per_person_are_limited() {
    let hub = Hub::start().await;
    let bob = hub.person("bob", "resolver").await;
    let mut clients = vec![];
    for _ in 0..500 {
        clients.push(Client::connect(&hub).await);
    }
    let refused = Dial::to(&hub).refused().await;
    assert_eq!(refused.status, 429, "{refused:?}");
    assert!(
        refused.body.contains("500 run sockets are already open in your name"),
        "{refused:?}"
    );
    Dial::to(&hub).bearer(&bob.token).open().await.expect_silence().await;
    clients.pop();
    eventually("a connection slot is free", async || {
        (hub.owner.get("/health").await.expect(200)["connectedClients"] == 499).then_some(())
    })
    .await;
    Client::connect(&hub).await.expect_silence().await;
}

fn fragment(text: &str, code: Data, is_last: bool) -> Message {
    Message::Frame(Frame::message(text.as_bytes().to_vec(), OpCode::Data(code), is_last))
}

#[tokio::test(flavor = "multi_thread")]
async fn a_fragmented_message_is_limited_as_a_whole() {
    let hub = Hub::start().await;
    let mut client = Client::connect(&hub).await;
    client.send_raw(fragment(r#"{"type":"pi"#, Data::Text, false)).await;
    client
        .send_raw(fragment(r#"ng","requestId":"#, Data::Continue, false))
        .await;
    client.send_raw(fragment(r#""in pieces"}"#, Data::Continue, true)).await;
    assert_eq!(client.expect("pong").await["requestId"], "in pieces");
    let megabyte = "x".repeat(1024 * 1024);
    client
        .send_raw(fragment(r#"{"type":"ping","pad":""#, Data::Text, false))
        .await;
    for _ in 0..4 {
        client.try_send(fragment(&megabyte, Data::Continue, false)).await;
    }
    assert!(client.closed().await.0.is_empty(), "the rest is not read");
    hub.owner.healthy().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_frame_header_that_claims_a_petabyte_allocates_nothing() {
    let hub = Hub::start().await;
    let address = hub.url.trim_start_matches("http://").to_owned();
    let upgrade = format!(
        "GET /ws HTTP/1.1\r\nhost: {address}\r\nconnection: upgrade\r\nupgrade: websocket\r\n\
         sec-websocket-version: 13\r\nsec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
    );
    let mut streams = vec![];
    for _ in 0..50 {
        let mut stream = TcpStream::connect(&address).await.expect("the hub accepts");
        stream.write_all(upgrade.as_bytes()).await.expect("the hub reads");
        let mut frame = vec![0x81, 0xff];
        frame.extend((1_u64 << 50).to_be_bytes());
        frame.extend([0, 0, 0, 0]);
        stream.write_all(&frame).await.expect("the hub reads");
        streams.push(stream);
    }
    hub.owner.healthy().await;
    Client::connect(&hub).await.expect_silence().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn ten_thousand_subscriptions_to_unknown_runs_are_all_refused() {
    let hub = Hub::start().await;
    let mut client = Client::connect(&hub).await;
    for batch in 0..100 {
        for number in 0..100 {
            client.subscribe(&format!("unknown-{batch}-{number}")).await;
        }
        let replies = client.frames_so_far().await;
        assert_eq!(replies.len(), 100);
        assert!(
            replies.iter().all(|frame| frame["code"] == "SUBSCRIBE_ERROR"),
            "{replies:?}"
        );
    }
}

/// Unread replays must not pile up in the hub's memory.
#[tokio::test(flavor = "multi_thread")]
async fn unread_replays_close_the_connection() {
    let hub = Hub::start().await;
    let mut client = Client::connect(&hub).await;
    let big = "x".repeat(200_000);
    let run = client.start_strategy(&hub, &talk(), &big).await;
    client.result().await;
    let mut greedy = Dial::to(&hub).receive_buffer(4096).open().await;
    let again = json!({"type": "subscribe", "runId": run, "afterSeq": 0}).to_string();
    for _ in 0..500 {
        greedy.try_send(Message::text(again.clone())).await;
    }
    let (frames, end) = greedy.closed().await;
    assert!(
        frames.len() < 500 * 6,
        "the hub did not buffer everything: {} frames",
        frames.len()
    );
    assert!(end.is_none_or(|(code, _)| code == 1013), "try again later");
    client.expect_silence().await;
    hub.owner.healthy().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn dropped_connections_are_cleaned_up() {
    let hub = Hub::start().await;
    let mut watcher = Client::connect(&hub).await;
    let run = watcher.start_strategy(&hub, &talk(), "").await;
    watcher.next_question().await;
    for _ in 0..100 {
        let mut client = Client::connect(&hub).await;
        client.subscribe(&run).await;
        drop(client);
    }
    eventually("only one client is left", async || {
        (hub.owner.get("/health").await.expect(200)["connectedClients"] == 1).then_some(())
    })
    .await;
    watcher.answer(&run, "user", "hello").await;
    assert_eq!(watcher.result().await, "hello");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_oversized_name_is_refused_with_its_field() {
    let hub = Hub::start().await;
    let mut client = Client::connect(&hub).await;
    let long = "x".repeat(4097);
    for (message, field) in [
        (
            json!({"type": "user_input", "runId": "r", "agentName": long, "text": ""}),
            "agentName",
        ),
        (json!({"type": "stop_run", "runId": long}), "runId"),
        (json!({"type": "prepare_run", "strategyPath": long}), "strategyPath"),
        (json!({"type": "prepare_run", "strategyPath": "x", "cwd": long}), "cwd"),
    ] {
        let refusal = client.refused(message, "VALIDATION_ERROR").await;
        assert!(
            refusal.starts_with(&format!("Invalid message: {field}: ")) && refusal.len() < 500,
            "{refusal}"
        );
    }
    for (bytes, is_echoed) in [(513, true), (5000, false)] {
        let request_id = "x".repeat(bytes);
        client.send(json!({"type": "ping", "requestId": request_id})).await;
        let error = client.expect("error").await;
        assert_eq!(error["code"], "VALIDATION_ERROR", "{error}");
        assert_eq!(
            error.get("requestId"),
            is_echoed.then_some(&json!(request_id)),
            "echoed if not absurdly long"
        );
    }
    client.send(json!({"type": "ping", "requestId": "x".repeat(512)})).await;
    client.expect("pong").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn websocket_ping_and_close_are_answered() {
    let hub = Hub::start().await;
    let mut client = Client::connect(&hub).await;
    client.send_raw(Message::Ping(b"hi".to_vec().into())).await;
    client.expect_silence().await;
    client.send_raw(Message::Close(None)).await;
    let (frames, _) = client.closed().await;
    assert!(frames.is_empty(), "{frames:?}");
}
