use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use anyhow::{Context, Result, bail};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::load::WebSocket;
use crate::process::Target;

const PATH: &str = "/ws";
/// A small kernel receive buffer for a client that does not read, so that unread frames pile up in the hub.
const SMALL_RECEIVE_BUFFER: u32 = 4096;
const ANSWER: &str = "Good, but say in the first sentence what it costs, and leave the history out.";

/// Run ids are unique within one execution of the program.
static NEXT_RUN: AtomicU64 = AtomicU64::new(1);

/// One connection to the hub's socket for runs.
pub struct Client {
    socket: WebSocket,
}

/// The fields of a frame that the bench needs.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Frame {
    #[serde(rename = "type")]
    pub kind: Kind,
    #[serde(default)]
    pub run_id: String,
    pub seq: Option<u64>,
    #[serde(skip)]
    pub bytes: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    RunPrepared,
    StepStarted,
    RequestInput,
    StrategyCompleted,
    StrategyError,
    Error,
    Pong,
    #[serde(other)]
    Other,
}

impl Client {
    pub async fn open(target: Target) -> Result<Self> {
        Ok(Self {
            socket: WebSocket::open(target.address, PATH).await?,
        })
    }

    pub async fn several(target: Target, count: usize) -> Result<Vec<Self>> {
        let mut clients = Vec::new();
        for _ in 0..count {
            clients.push(Self::open(target).await?);
        }
        Ok(clients)
    }

    /// A client that subscribes to a run and then stops reading.
    pub async fn subscribe_without_reading(target: Target, run: &str) -> Result<Self> {
        let mut client = Self {
            socket: WebSocket::open_with_receive_buffer(target.address, PATH, SMALL_RECEIVE_BUFFER).await?,
        };
        client.subscribe(run, None).await?;
        client.ping().await?;
        while client.next_frame().await?.kind != Kind::Pong {}
        Ok(client)
    }

    pub async fn prepare(&mut self, strategy: &Path) -> Result<String> {
        let run = format!("bench-{}", NEXT_RUN.fetch_add(1, Relaxed));
        self.send_json(json!({ "type": "prepare_run", "runId": run, "strategyPath": strategy }))
            .await?;
        Ok(run)
    }

    pub async fn start(&mut self, run: &str, input: &str) -> Result<()> {
        self.send_json(json!({ "type": "start_run", "runId": run, "input": input }))
            .await
    }

    /// Prepares and starts a run without waiting for either reply.
    pub async fn begin(&mut self, strategy: &Path, input: &str) -> Result<String> {
        let run = self.prepare(strategy).await?;
        self.start(&run, input).await?;
        Ok(run)
    }

    pub async fn steer(&mut self, run: &str, text: &str) -> Result<()> {
        self.send_json(json!({ "type": "steer_run", "runId": run, "text": text }))
            .await
    }

    pub async fn subscribe(&mut self, run: &str, after: Option<u64>) -> Result<()> {
        let mut message = json!({ "type": "subscribe", "runId": run });
        if let Some(after) = after {
            message["afterSeq"] = after.into();
        }
        self.send_json(message).await
    }

    pub async fn ping(&mut self) -> Result<()> {
        self.send_json(json!({ "type": "ping" })).await
    }

    /// Stops a waiting run and waits for the event that confirms it.
    pub async fn stop(&mut self, run: &str) -> Result<()> {
        self.send_json(json!({ "type": "stop_run", "runId": run })).await?;
        loop {
            let (frame, text) = self.read_frame().await?;
            match frame.kind {
                Kind::StrategyError => return Ok(()),
                Kind::Error | Kind::StrategyCompleted => bail!("a run could not be stopped: {text}"),
                Kind::RunPrepared | Kind::StepStarted | Kind::RequestInput | Kind::Pong | Kind::Other => {}
            }
        }
    }

    pub async fn send(&mut self, text: &str) -> Result<()> {
        self.socket.send(text).await
    }

    /// Returns the next frame; an error frame fails the measurement.
    pub async fn next_frame(&mut self) -> Result<Frame> {
        let (frame, text) = self.read_frame().await?;
        match frame.kind {
            Kind::Error | Kind::StrategyError => bail!("the hub reported an error: {text}"),
            Kind::RunPrepared
            | Kind::StepStarted
            | Kind::RequestInput
            | Kind::StrategyCompleted
            | Kind::Pong
            | Kind::Other => Ok(frame),
        }
    }

    async fn read_frame(&mut self) -> Result<(Frame, impl std::fmt::Display + use<>)> {
        let text = self.socket.next().await?;
        let frame: Frame = serde_json::from_str(&text).with_context(|| format!("not a frame: {text}"))?;
        Ok((
            Frame {
                bytes: text.len(),
                ..frame
            },
            text,
        ))
    }

    async fn send_json(&mut self, message: Value) -> Result<()> {
        self.socket.send(message.to_string()).await
    }
}

/// The answer frame of the person that the run asks.
pub fn answer(run: &str) -> String {
    json!({ "type": "user_input", "runId": run, "agentName": "user", "text": ANSWER }).to_string()
}
