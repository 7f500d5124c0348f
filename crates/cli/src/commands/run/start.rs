//! Starts a run from a strategy, or continues one that has ended.

use std::time::Duration;

use anyhow::{Result, anyhow, bail};
use countersign_client::hub::{HubClient, Socket, SocketClosed};
use countersign_client::screen;
use countersign_protocol::runs::{ClientMessage, Event, PrepareRun};
use serde_json::json;
use tokio::time::timeout;

use super::hub_message::{HubMessage, read};
use super::id_conflict;
use crate::commands::Finished;

/// The time for the hub to read the strategy with its files and to store the start.
const START_TIMEOUT: Duration = Duration::from_secs(60);
const PREPARE: &str = "prepare";
const SUBSCRIBE: &str = "subscribe";
const BEGIN: &str = "begin";

#[derive(Debug, Clone)]
pub enum StartInput {
    Start(String),
    Continue(String),
}

/// A started run, on the connection that started it.
pub struct StartedRun {
    pub socket: Socket,
    pub run_id: String,
    /// Its first event, verbatim.
    pub first: String,
}

/// The hub's reply to a start or a continuation.
enum StartReply {
    /// With the first event, verbatim.
    Started(String),
    /// With the hub's reason.
    Refused(String),
}

impl StartedRun {
    /// Leaves the run going without a follower.
    pub fn leave(self, json: bool) -> Result<Finished> {
        let run_id = &self.run_id;
        if json {
            return Ok(Finished::ok(screen::json(&json!({ "run_id": run_id }))));
        }
        screen::print_notice(&format!(
            "It runs in the background: `countersign runs follow {run_id}` shows its progress."
        ));
        Ok(Finished::ok(screen::escape(run_id) + "\n"))
    }
}

pub async fn begin(client: &HubClient, prepare: PrepareRun, input: StartInput) -> Result<StartedRun> {
    if let Some(run_id) = &prepare.run_id {
        id_conflict::check(client, run_id, &input).await?;
    }
    let mut socket = Socket::open(client).await?;
    let begun = timeout(START_TIMEOUT, async {
        let run_id = prepared(&mut socket, prepare).await?;
        let reply = start(&mut socket, &run_id, input.clone()).await?;
        anyhow::Ok((run_id, reply))
    });
    let (run_id, reply) = begun
        .await
        .map_err(|_| anyhow!("the hub took too long to start the run"))??;
    match reply {
        StartReply::Started(first) => Ok(StartedRun { socket, run_id, first }),
        StartReply::Refused(reason) => {
            id_conflict::withdraw_preparation(client, &run_id).await;
            id_conflict::check(client, &run_id, &input).await?;
            bail!(reason)
        }
    }
}

async fn prepared(socket: &mut Socket, prepare: PrepareRun) -> Result<String> {
    socket.send(&ClientMessage::PrepareRun(prepare), PREPARE).await?;
    loop {
        match read(&socket.next().await?) {
            HubMessage::Prepared { run_id } => return Ok(run_id),
            HubMessage::Error { code, message, .. } => bail!("{message} ({code})"),
            HubMessage::Event(_) | HubMessage::Resolved { .. } | HubMessage::Pong { .. } | HubMessage::Unknown => {}
        }
    }
}

async fn start(socket: &mut Socket, run_id: &str, input: StartInput) -> Result<StartReply, SocketClosed> {
    let run_id = run_id.to_owned();
    // The preparing client already follows the run; the subscription adds resolved questions.
    let subscribe = ClientMessage::Subscribe {
        run_id: run_id.clone(),
        after_seq: None,
        extensions: true,
    };
    socket.send(&subscribe, SUBSCRIBE).await?;
    let message = match input {
        StartInput::Start(input) => ClientMessage::StartRun { run_id, input },
        StartInput::Continue(input) => ClientMessage::ContinueRun { run_id, input },
    };
    socket.send(&message, BEGIN).await?;
    loop {
        let text = socket.next().await?;
        match read(&text) {
            HubMessage::Event(numbered) if matches!(numbered.event, Some(Event::StrategyStarted { .. })) => {
                return Ok(StartReply::Started(text));
            }
            HubMessage::Error { code, message, .. } => return Ok(StartReply::Refused(format!("{message} ({code})"))),
            HubMessage::Event(_)
            | HubMessage::Resolved { .. }
            | HubMessage::Prepared { .. }
            | HubMessage::Pong { .. }
            | HubMessage::Unknown => {}
        }
    }
}
