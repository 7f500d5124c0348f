//! A WebSocket client of the run door.

use std::path::Path;

use futures_util::{SinkExt, StreamExt};
use serde_json::{Value, json};
use tokio::net::TcpStream;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::{Error, Message};

use super::frame::checked;
use super::{Dial, strategy_file};
use crate::harness::*;

pub struct Client {
    socket: WebSocketStream<TcpStream>,
    count: u64,
    /// The last frame, shown when a wait times out.
    last: String,
}

impl Client {
    /// Connects without a credential like native clients, except to a hub that wants a token.
    pub async fn connect(hub: &Hub) -> Self {
        Self::dial(hub).open().await
    }

    /// Connects once the hub accepts it, such as after an outage of its database.
    pub async fn connect_when_back(hub: &Hub) -> Self {
        eventually("the hub accepts a connection", async || {
            Self::dial(hub).try_open().await
        })
        .await
    }

    fn dial(hub: &Hub) -> Dial {
        match hub.needs_token() {
            true => Dial::to(hub).bearer(&hub.token()),
            false => Dial::to(hub),
        }
    }

    pub fn new(socket: WebSocketStream<TcpStream>) -> Self {
        Self {
            socket,
            count: 0,
            last: "the upgrade".to_owned(),
        }
    }

    pub async fn send(&mut self, message: Value) {
        self.send_text(&message.to_string()).await;
    }

    pub async fn send_text(&mut self, text: &str) {
        self.send_raw(Message::text(text)).await;
    }

    pub async fn send_raw(&mut self, message: Message) {
        within("the hub takes a frame", self.socket.send(message))
            .await
            .expect("the connection is open");
    }

    /// Sends a message; the hub may close the connection before reading all of it.
    pub async fn try_send(&mut self, message: Message) {
        let _ = within(
            "the hub takes a frame or ends the connection",
            self.socket.send(message),
        )
        .await;
    }

    /// The next frame, or how the connection ended.
    pub async fn next_or_end(&mut self) -> Result<Value, Option<(u16, String)>> {
        let what = format!("a frame after {:.2000}", self.last);
        // One timeout covers the whole read; the hub's pings do not extend it.
        let read = within(&what, self.read()).await?;
        self.last.clone_from(&read);
        Ok(checked(&read))
    }

    async fn read(&mut self) -> Result<String, Option<(u16, String)>> {
        loop {
            match self.socket.next().await {
                Some(Ok(Message::Text(text))) => return Ok(text.to_string()),
                Some(Ok(Message::Close(frame))) => {
                    return Err(frame.map(|frame| (frame.code.into(), frame.reason.to_string())));
                }
                Some(Ok(Message::Ping(_) | Message::Pong(_))) => {}
                Some(Ok(other)) => panic!("the hub sends text: {other:?}"),
                Some(Err(Error::ConnectionClosed | Error::Protocol(_) | Error::Io(_))) | None => return Err(None),
                Some(Err(other)) => panic!("a broken frame: {other}"),
            }
        }
    }

    pub async fn next(&mut self) -> Value {
        self.next_or_end()
            .await
            .unwrap_or_else(|end| panic!("the connection ended: {end:?}"))
    }

    pub async fn expect(&mut self, kind: &str) -> Value {
        let frame = self.next().await;
        assert_eq!(frame["type"], kind, "unexpected frame: {frame}");
        frame
    }

    /// All frames up to and including the first of this type.
    pub async fn until(&mut self, kind: &str) -> Vec<Value> {
        let mut frames = vec![];
        loop {
            let frame = self.next().await;
            let is_last = frame["type"] == kind;
            let has_ended = frame["type"] == "strategy_error" || frame["type"] == "strategy_completed";
            frames.push(frame);
            if is_last {
                return frames;
            }
            assert!(!has_ended, "the run ended without {kind}: {frames:#?}");
        }
    }

    /// Asserts that the hub sends nothing before the reply to a ping.
    pub async fn expect_silence(&mut self) {
        let request_id = self.request_id("ping");
        self.send(json!({"type": "ping", "requestId": request_id})).await;
        let frame = self.next().await;
        assert_eq!(
            (&frame["type"], &frame["requestId"]),
            (&json!("pong"), &json!(request_id)),
            "expected silence: {frame}"
        );
    }

    /// All frames before the reply to a ping.
    pub async fn frames_so_far(&mut self) -> Vec<Value> {
        let request_id = self.request_id("so-far");
        self.send(json!({"type": "ping", "requestId": request_id})).await;
        let mut frames = vec![];
        loop {
            let frame = self.next().await;
            if frame["type"] == "pong" && frame["requestId"] == json!(request_id) {
                return frames;
            }
            frames.push(frame);
        }
    }

    /// Like `frames_so_far`, as raw text.
    pub async fn raw_frames_so_far(&mut self) -> Vec<String> {
        self.send(json!({"type": "ping"})).await;
        let mut texts = vec![];
        loop {
            let text = within("a frame", self.read()).await.expect("the connection is open");
            if text.starts_with("{\"type\":\"pong\"") {
                return texts;
            }
            texts.push(text);
        }
    }

    /// The frames until the hub closes, and the close code and reason.
    pub async fn closed(&mut self) -> (Vec<Value>, Option<(u16, String)>) {
        let mut frames = vec![];
        loop {
            match self.next_or_end().await {
                Ok(frame) => frames.push(frame),
                Err(end) => return (frames, end),
            }
        }
    }

    pub fn request_id(&mut self, name: &str) -> String {
        self.count += 1;
        format!("{name}-{}", self.count)
    }

    /// Sends with a request id and returns the reply to it.
    pub async fn call(&mut self, mut message: Value, reply: &str) -> Value {
        let request_id = self.request_id(reply);
        message["requestId"] = json!(request_id);
        self.send(message).await;
        let frame = self.expect(reply).await;
        assert_eq!(
            frame["requestId"],
            json!(request_id),
            "a reply names its request: {frame}"
        );
        frame
    }

    /// Sends a message that the hub must refuse, and returns the error message.
    pub async fn refused(&mut self, message: Value, code: &str) -> String {
        let error = self.call(message, "error").await;
        assert_eq!(error["code"], code, "{error}");
        error["message"].as_str().expect("a message").to_owned()
    }

    pub async fn prepare(&mut self, path: &Path) -> String {
        let prepared = self
            .call(json!({"type": "prepare_run", "strategyPath": path}), "run_prepared")
            .await;
        prepared["runId"].as_str().expect("a run id").to_owned()
    }

    pub async fn prepare_refused(&mut self, path: &Path) -> String {
        self.refused(json!({"type": "prepare_run", "strategyPath": path}), "PREPARE_FAILED")
            .await
    }

    /// Starts a run and returns the request id of its events.
    pub async fn start(&mut self, run: &str, input: &str) -> String {
        let request_id = self.request_id("start");
        self.send(json!({"type": "start_run", "runId": run, "input": input, "requestId": request_id}))
            .await;
        let started = self.expect("strategy_started").await;
        assert_eq!(
            (&started["runId"], &started["requestId"]),
            (&json!(run), &json!(request_id)),
            "{started}"
        );
        request_id
    }

    /// Prepares and starts a run of this strategy, and returns the run id.
    pub async fn start_strategy(&mut self, hub: &Hub, strategy: &Value, input: &str) -> String {
        let run = self.prepare(&strategy_file(hub, strategy)).await;
        self.start(&run, input).await;
        run
    }

    /// Prepares an ended run again and continues it.
    pub async fn continue_run(&mut self, run: &str, input: &str) {
        self.call(json!({"type": "prepare_run", "runId": run}), "run_prepared")
            .await;
        self.send(json!({"type": "continue_run", "runId": run, "input": input}))
            .await;
        assert_eq!(self.expect("strategy_started").await["runId"], run);
    }

    pub async fn answer(&mut self, run: &str, agent: &str, text: &str) {
        self.send(json!({"type": "user_input", "runId": run, "agentName": agent, "text": text}))
            .await;
    }

    pub async fn subscribe(&mut self, run: &str) {
        self.send(json!({"type": "subscribe", "runId": run})).await;
    }

    pub async fn subscribe_after(&mut self, run: &str, seq: u64) {
        self.send(json!({"type": "subscribe", "runId": run, "afterSeq": seq}))
            .await;
    }

    pub async fn unsubscribe(&mut self, run: &str) {
        self.send(json!({"type": "unsubscribe", "runId": run})).await;
    }

    pub async fn stop(&mut self, run: &str) {
        self.send(json!({"type": "stop_run", "runId": run})).await;
    }

    /// The next question; earlier frames are skipped.
    pub async fn next_question(&mut self) -> Value {
        self.until("request_input").await.pop().expect("the question")
    }

    /// The result of the completed run.
    pub async fn result(&mut self) -> String {
        let completed = self.until("strategy_completed").await.pop().expect("the end");
        completed["result"].as_str().expect("a result").to_owned()
    }

    /// The error code and message of the failed run.
    pub async fn failure(&mut self) -> (String, String) {
        let error = self.until("strategy_error").await.pop().expect("the end");
        let field = |name: &str| {
            error["error"][name]
                .as_str()
                .unwrap_or_else(|| panic!("{name}: {error}"))
                .to_owned()
        };
        (field("code"), field("message"))
    }

    /// The entry of this run in `list_strategies`.
    pub async fn live_run(&mut self, run: &str) -> Value {
        let listed = self.call(json!({"type": "list_strategies"}), "strategy_list").await;
        find(&listed, run)
    }

    /// The entry of this run in `list_runs`.
    pub async fn stored_run(&mut self, run: &str) -> Value {
        let listed = self.call(json!({"type": "list_runs"}), "run_list").await;
        find(&listed, run)
    }
}

fn find(listed: &Value, run: &str) -> Value {
    let runs = listed["runs"]
        .as_array()
        .unwrap_or_else(|| panic!("a list of runs: {listed}"));
    runs.iter()
        .find(|one| one["runId"] == run)
        .cloned()
        .unwrap_or(Value::Null)
}
