//! Clients that are up to no good, or only clumsy.

use serde_json::json;
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::protocol::frame::Frame;
use tokio_tungstenite::tungstenite::protocol::frame::coding::{Data, OpCode};

use super::stage::*;
use crate::harness::*;

const FRAME_CAP: usize = (3 * 1024 + 64) * 1024;

fn padded_ping(bytes: usize) -> String {
    let overhead = r#"{"type":"ping","pad":""}"#.len();
    format!(r#"{{"type":"ping","pad":"{}"}}"#, "x".repeat(bytes - overhead))
}

#[tokio::test(flavor = "multi_thread")]
async fn a_message_has_a_bound_and_a_larger_frame_ends_only_its_own_connection() {
    let hub = Hub::start().await;
    let mut bystander = Client::connect(&hub).await;
    let run = bystander.begin(&hub, &talk(), "").await;
    bystander.asked().await;
    let mut client = Client::connect(&hub).await;
    client.send_text(&padded_ping(FRAME_CAP)).await;
    client.expect("pong").await;
    client.offer(Message::text(padded_ping(FRAME_CAP + 1))).await;
    let (frames, end) = client.closed().await;
    assert!(frames.is_empty(), "{frames:?}");
    assert!(end.is_none_or(|(code, _)| code == 1009), "too large is its own reason");
    bystander.answer(&run, "user", "hello").await;
    assert_eq!(bystander.result().await, "hello");
}

/// As the inbox takes it, from a client that writes nothing but ASCII.
#[tokio::test(flavor = "multi_thread")]
async fn the_longest_answer_arrives_however_it_is_written() {
    let hub = Hub::start().await;
    let mut client = Client::connect(&hub).await;
    let run = client.begin(&hub, &talk(), "").await;
    client.asked().await;
    let letters = "ж".repeat(512 * 1024);
    let escaped = r"\u0436".repeat(512 * 1024);
    let answer = format!(r#"{{"type":"user_input","runId":"{run}","agentName":"user","text":"{escaped}"}}"#);
    client.send_text(&answer).await;
    assert!(client.result().await == letters, "all of it");
}

/// Messages of which most has come and the end never does: each holds memory that nobody can look into.
#[tokio::test(flavor = "multi_thread")]
async fn messages_that_are_never_complete_hold_only_so_much_of_the_hub() {
    let hub = Hub::start().await;
    let mut clients = vec![];
    for _ in 0..11 {
        let mut client = Client::connect(&hub).await;
        client.offer(piece(&"x".repeat(1024 * 1024), Data::Text, false)).await;
        clients.push(client);
    }
    let ended = futures_util::future::select_all(clients.iter_mut().map(|client| Box::pin(client.closed())))
        .await
        .1;
    assert!(ended < 11, "one of them has to go");
    let bob = hub.person("bob", "resolver").await;
    let mut other = Dial::to(&hub).bearer(&bob.token).open().await;
    other.send_text(&padded_ping(FRAME_CAP)).await;
    other.expect("pong").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn one_person_cannot_take_all_places_from_others() {
    let hub = Hub::start().await;
    let bob = hub.person("bob", "resolver").await;
    let mut clients = vec![];
    for _ in 0..500 {
        clients.push(Client::connect(&hub).await);
    }
    let refused = Dial::to(&hub).refused().await;
    assert_eq!(refused.status, 429, "{refused:?}");
    assert!(
        refused.body.contains("500 sockets of runs are open under your name"),
        "{refused:?}"
    );
    Dial::to(&hub).bearer(&bob.token).open().await.silence().await;
    clients.pop();
    eventually("a place is free", async || {
        (hub.owner.get("/health").await.expect(200)["connectedClients"] == 499).then_some(())
    })
    .await;
    Client::connect(&hub).await.silence().await;
}

fn piece(text: &str, code: Data, is_last: bool) -> Message {
    Message::Frame(Frame::message(text.as_bytes().to_vec(), OpCode::Data(code), is_last))
}

#[tokio::test(flavor = "multi_thread")]
async fn a_message_in_pieces_is_one_message_and_bounded_as_one() {
    let hub = Hub::start().await;
    let mut client = Client::connect(&hub).await;
    client.send_raw(piece(r#"{"type":"pi"#, Data::Text, false)).await;
    client
        .send_raw(piece(r#"ng","requestId":"#, Data::Continue, false))
        .await;
    client.send_raw(piece(r#""in pieces"}"#, Data::Continue, true)).await;
    assert_eq!(client.expect("pong").await["requestId"], "in pieces");
    let megabyte = "x".repeat(1024 * 1024);
    client
        .send_raw(piece(r#"{"type":"ping","pad":""#, Data::Text, false))
        .await;
    for _ in 0..4 {
        client.offer(piece(&megabyte, Data::Continue, false)).await;
    }
    assert!(client.closed().await.0.is_empty(), "no more of it is taken");
    hub.owner.healthy().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_head_that_claims_a_petabyte_costs_nothing() {
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
    Client::connect(&hub).await.silence().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn ten_thousand_subscriptions_to_nothing_are_ten_thousand_refusals() {
    let hub = Hub::start().await;
    let mut client = Client::connect(&hub).await;
    for batch in 0..100 {
        for number in 0..100 {
            client.subscribe(&format!("nobody-{batch}-{number}")).await;
        }
        let told = client.so_far().await;
        assert_eq!(told.len(), 100);
        assert!(told.iter().all(|frame| frame["code"] == "SUBSCRIBE_ERROR"), "{told:?}");
    }
}

/// Replays asked for and never read must not pile up in the hub.
#[tokio::test(flavor = "multi_thread")]
async fn replays_that_nobody_reads_end_the_connection_and_not_the_hub() {
    let hub = Hub::start().await;
    let mut client = Client::connect(&hub).await;
    let big = "x".repeat(200_000);
    let run = client.begin(&hub, &talk(), &big).await;
    client.result().await;
    let mut greedy = Dial::to(&hub).receive_buffer(4096).open().await;
    let again = json!({"type": "subscribe", "runId": run, "afterSeq": 0}).to_string();
    for _ in 0..500 {
        greedy.offer(Message::text(again.clone())).await;
    }
    let (frames, end) = greedy.closed().await;
    assert!(
        frames.len() < 500 * 6,
        "not everything was kept for it: {} frames",
        frames.len()
    );
    assert!(end.is_none_or(|(code, _)| code == 1013), "try again later");
    client.silence().await;
    hub.owner.healthy().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn connections_that_break_without_a_word_are_forgotten() {
    let hub = Hub::start().await;
    let mut watcher = Client::connect(&hub).await;
    let run = watcher.begin(&hub, &talk(), "").await;
    watcher.asked().await;
    for _ in 0..100 {
        let mut client = Client::connect(&hub).await;
        client.subscribe(&run).await;
        drop(client);
    }
    eventually("only one is left", async || {
        (hub.owner.get("/health").await.expect(200)["connectedClients"] == 1).then_some(())
    })
    .await;
    watcher.answer(&run, "user", "hello").await;
    assert_eq!(watcher.result().await, "hello");
}

#[tokio::test(flavor = "multi_thread")]
async fn names_that_are_too_long_are_refused_by_their_field() {
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
        let said = client.refused(message, "VALIDATION_ERROR").await;
        assert!(
            said.starts_with(&format!("Invalid message: {field}: ")) && said.len() < 500,
            "{said}"
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
            "its sender may wait for it"
        );
    }
    client.send(json!({"type": "ping", "requestId": "x".repeat(512)})).await;
    client.expect("pong").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_ping_of_the_socket_itself_is_answered_and_a_close_is_returned() {
    let hub = Hub::start().await;
    let mut client = Client::connect(&hub).await;
    client.send_raw(Message::Ping(b"hi".to_vec().into())).await;
    client.silence().await;
    client.send_raw(Message::Close(None)).await;
    let (frames, _) = client.closed().await;
    assert!(frames.is_empty(), "{frames:?}");
}
