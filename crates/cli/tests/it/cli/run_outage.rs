//! Hub outages and restarts while a run is followed.

use futures_util::{SinkExt, StreamExt};
use serde_json::{Value, json};
use tokio::net::{TcpListener, TcpStream};
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::{WebSocketStream, accept_async};

use super::run::file_of;
use crate::harness::*;
use crate::runs::inbox::id_of;
use crate::runs::stage::*;

#[tokio::test(flavor = "multi_thread")]
async fn a_hub_that_comes_back_is_followed_again() {
    let mut hub = Hub::start().await;
    let file = file_of(&hub, &review());
    let process = Terminal::local(&hub).start(&["run", &file, "--input", "fish", "--run-id", "r1"]);
    process.stderr_with("in the inbox: ").await;
    hub.kill();
    process
        .stderr_with("the connection to the hub ended; waiting for the hub, Ctrl-C leaves")
        .await;
    hub.restart().await;
    process.stderr_with("The hub is back\n").await;
    hub.owner.answer(&id_of(&hub, "r1").await, "fine").await.expect(200);
    let ran = process.finish();
    assert_eq!((ran.code, ran.stdout.as_str()), (0, "fine\n"), "{ran:?}");
    for part in ["editor needs your input", "Step draft done", "Step editor done"] {
        assert_eq!(
            ran.stderr.matches(part).count(),
            1,
            "{part} is told once: {}",
            ran.stderr
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn questions_answered_during_an_outage_are_shown_and_not_asked_again() {
    let mut hub = Hub::start().await;
    let agents = json!({"first": person(), "second": person()});
    let file = file_of(&hub, &sequence(agents, &["first", "second"]));
    let process = Terminal::local(&hub).start(&["run", &file, "--run-id", "r1"]);
    process.stderr_with("in the inbox: ").await;
    process.signal("STOP");
    hub.kill();
    hub.restart().await;
    let id = id_of(&hub, "r1").await;
    hub.owner.answer(&id, "one").await.expect(200);
    let second = eventually("the second question", async || {
        let items = hub.owner.get("/v1/inbox").await.expect(200)["items"].clone();
        items[0]["id"].as_str().filter(|next| **next != id).map(str::to_owned)
    })
    .await;
    process.signal("CONT");
    process.stderr_with("first no longer needs an answer from here").await;
    process.stderr_with("  | one\nStep first done\nStep second\n").await;
    process.stderr_with(&format!("countersign answer {second} TEXT")).await;
    hub.owner.answer(&second, "two").await.expect(200);
    let ran = process.finish();
    assert_eq!(
        ran.stderr.matches("first needs your input").count(),
        1,
        "{}",
        ran.stderr
    );
    assert_eq!(ran.ok(), "two\n");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stopped_hub_says_so_and_keeps_the_waiting_run() {
    let mut hub = Hub::start().await;
    let file = file_of(&hub, &talk());
    let process = Terminal::local(&hub).start(&["run", &file, "--run-id", "r1"]);
    process.stderr_with("in the inbox: ").await;
    hub.interrupt();
    process
        .stderr_with("the hub closed the connection: Server shutting down; waiting for the hub")
        .await;
    hub.restart().await;
    hub.owner.answer(&id_of(&hub, "r1").await, "x").await.expect(200);
    assert_eq!(process.finish().ok(), "x\n");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_interrupted_run_has_its_own_exit_code_and_can_be_continued() {
    let mut hub = Setup::default().config("[runs]\ncommands = \"allow\"\n").start().await;
    let mut latch = Latch::new(&hub, "latch");
    let file = file_of(&hub, &alone(command("cat", &[latch.path()])));
    let process = Terminal::local(&hub).start(&["run", &file, "--run-id", "r1"]);
    latch.until_reached().await;
    hub.kill();
    latch.release();
    hub.restart().await;
    let output = process.finish().fails(15);
    assert!(output.contains("countersign runs continue r1 --input TEXT"), "{output}");
    let again = Terminal::local(&hub).start(&["runs", "continue", "r1", "--input", "x"]);
    latch.until_reached().await;
    latch.release();
    assert_eq!(again.finish().ok(), "");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_signal_ends_the_wait_for_the_hub() {
    let mut hub = Hub::start().await;
    let file = file_of(&hub, &talk());
    let process = Terminal::local(&hub).start(&["run", &file, "--run-id", "r1"]);
    process.stderr_with("in the inbox: ").await;
    hub.kill();
    process.stderr_with("waiting for the hub").await;
    process.signal("TERM");
    process.finish().fails(14);
}

/// Accepts the next connection and reads its subscription.
async fn subscribed(listener: &TcpListener) -> WebSocketStream<TcpStream> {
    let (stream, _) = within("a connection", listener.accept()).await.expect("it comes");
    let mut socket = accept_async(stream).await.expect("an upgrade");
    let message = within("a message", socket.next())
        .await
        .expect("it goes on")
        .expect("a frame");
    assert!(
        message.to_text().unwrap().contains(r#""type":"subscribe""#),
        "{message}"
    );
    socket
}

async fn send_frame(socket: &mut WebSocketStream<TcpStream>, mut frame: Value) {
    frame["ts"] = json!("2026-01-01T00:00:00.000Z");
    socket.send(Message::text(frame.to_string())).await.expect("it hears");
}

/// A short disk failure of the hub does not end the run. A fake hub reports it, as a real hub cannot fail on demand.
#[tokio::test(flavor = "multi_thread")]
async fn an_internal_error_of_the_hub_is_retried_and_the_run_is_not_lost() {
    let scratch = Scratch::new();
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let mut command = countersign(&scratch.home());
    command.args(["runs", "follow", "r1"]);
    command.env(
        "COUNTERSIGN_URL",
        format!("http://{}", listener.local_addr().expect("an address")),
    );
    command.env("COUNTERSIGN_TOKEN", "csp_x");
    let process = Process::spawn(command, "");
    for _ in 0..2 {
        let mut socket = subscribed(&listener).await;
        let error = json!({"type": "error", "code": "INTERNAL_ERROR", "message": "id 7", "requestId": "subscribe"});
        send_frame(&mut socket, error).await;
    }
    process
        .stderr_with("the hub cannot read the run now: id 7; waiting for the hub")
        .await;
    let mut socket = subscribed(&listener).await;
    let usage = json!({"promptTokens": 0, "completionTokens": 0});
    send_frame(
        &mut socket,
        json!({"type": "strategy_completed", "runId": "r1", "seq": 1, "result": "done", "usage": usage}),
    )
    .await;
    let ping = within("a ping", socket.next())
        .await
        .expect("it goes on")
        .expect("a frame");
    let ping: Value = serde_json::from_str(ping.to_text().unwrap()).expect("JSON");
    send_frame(&mut socket, json!({"type": "pong", "requestId": ping["requestId"]})).await;
    let ran = process.finish();
    assert_eq!((ran.code, ran.stdout.as_str()), (0, "done\n"), "{ran:?}");
    assert_eq!(
        ran.stderr.matches("waiting for the hub").count(),
        1,
        "it is said once: {}",
        ran.stderr
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_is_followed_over_tls_with_the_same_trust_as_other_commands() {
    let scratch = Scratch::new();
    if !crate::startup::tls::certificate(&scratch) {
        eprintln!("skipped: openssl is not installed");
        return;
    }
    let mut command = countersign(&scratch.home());
    command
        .args(["serve", "--listen", "127.0.0.1:0", "--data"])
        .arg(scratch.data());
    command
        .arg("--tls-cert")
        .arg(scratch.path("cert.pem"))
        .arg("--tls-key")
        .arg(scratch.path("key.pem"));
    let hub = Process::spawn(command, "");
    hub.stdout_with("https://127.0.0.1:").await;
    let found = eventually("hub.json", async || {
        let text = std::fs::read_to_string(scratch.data().join("hub.json")).ok()?;
        serde_json::from_str::<serde_json::Value>(&text).ok()
    })
    .await;
    let file = scratch.write("talk.json", &talk().to_string()).display().to_string();
    let mut command = countersign(&scratch.home());
    command
        .args(["run", &file, "--input", "hello", "--data"])
        .arg(scratch.data());
    assert_eq!(Process::spawn(command, "").finish().ok(), "hello\n");
    let mut command = countersign(&scratch.home());
    command.args(["run", &file, "--input", "hello"]);
    command
        .env("COUNTERSIGN_URL", found["url"].as_str().unwrap())
        .env("COUNTERSIGN_TOKEN", found["token"].as_str().unwrap());
    let output = Process::spawn(command, "").finish().fails(1);
    assert!(
        output.contains("cannot be reached"),
        "an untrusted certificate: {output}"
    );
}
