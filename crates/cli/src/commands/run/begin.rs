//! From a strategy, or a run that has ended, to a run that runs.

use std::time::Duration;

use anyhow::{Result, anyhow, bail};
use countersign_protocol::runs::{ClientMessage, Event, PrepareRun};
use serde_json::json;
use tokio::time::timeout;

use super::super::Finished;
use super::heard::{Heard, read};
use super::taken;
use crate::client::{Client, Lost, Socket};
use crate::screen;

/// To read a strategy and the files it names, and to store that it begins.
const PATIENCE: Duration = Duration::from_secs(60);
const PREPARE: &str = "prepare";
const SUBSCRIBE: &str = "subscribe";
const BEGIN: &str = "begin";

#[derive(Debug, Clone)]
pub enum Beginning {
    Start(String),
    Continue(String),
}

/// A run that has begun, on the connection that began it.
pub struct Begun {
    pub socket: Socket,
    pub run_id: String,
    /// The first of its events, as it came.
    pub first: String,
}

impl Begun {
    /// It goes on without anybody here.
    pub fn leave(self, json: bool) -> Result<Finished> {
        let run_id = &self.run_id;
        if json {
            return Ok(Finished::well(screen::json(&json!({ "run_id": run_id }))));
        }
        screen::remark(&format!(
            "It goes on by itself: `countersign runs follow {run_id}` shows how."
        ));
        Ok(Finished::well(screen::escape(run_id) + "\n"))
    }
}

pub async fn begin(client: &Client, prepare: PrepareRun, beginning: Beginning) -> Result<Begun> {
    if let Some(run_id) = &prepare.run_id {
        taken::check(client, run_id, &beginning).await?;
    }
    let mut socket = Socket::open(client).await?;
    let begun = timeout(PATIENCE, async {
        let run_id = prepared(&mut socket, prepare).await?;
        let started = started(&mut socket, &run_id, beginning.clone()).await?;
        anyhow::Ok((run_id, started))
    });
    let (run_id, started) = begun
        .await
        .map_err(|_| anyhow!("the hub took too long to begin the run"))??;
    match started {
        Ok(first) => Ok(Begun { socket, run_id, first }),
        Err(refusal) => {
            taken::leave_as_it_was(client, &run_id).await;
            taken::check(client, &run_id, &beginning).await?;
            bail!(refusal)
        }
    }
}

async fn prepared(socket: &mut Socket, prepare: PrepareRun) -> Result<String> {
    socket.send(&ClientMessage::PrepareRun(prepare), PREPARE).await?;
    loop {
        match read(&socket.next().await?) {
            Heard::Prepared { run_id } => return Ok(run_id),
            Heard::Error { code, message, .. } => bail!("{message} ({code})"),
            Heard::Event(_) | Heard::Resolved { .. } | Heard::Pong { .. } | Heard::Unknown => {}
        }
    }
}

/// The first of its events, or why the hub does not begin it.
async fn started(socket: &mut Socket, run_id: &str, beginning: Beginning) -> Result<Result<String, String>, Lost> {
    let run_id = run_id.to_owned();
    // Whoever prepares a run follows it; this asks to be told of answers too.
    let subscribe = ClientMessage::Subscribe {
        run_id: run_id.clone(),
        after_seq: None,
        extensions: true,
    };
    socket.send(&subscribe, SUBSCRIBE).await?;
    let message = match beginning {
        Beginning::Start(input) => ClientMessage::StartRun { run_id, input },
        Beginning::Continue(input) => ClientMessage::ContinueRun { run_id, input },
    };
    socket.send(&message, BEGIN).await?;
    loop {
        let text = socket.next().await?;
        match read(&text) {
            Heard::Event(told) if matches!(told.event, Some(Event::StrategyStarted { .. })) => return Ok(Ok(text)),
            Heard::Error { code, message, .. } => return Ok(Err(format!("{message} ({code})"))),
            Heard::Event(_) | Heard::Resolved { .. } | Heard::Prepared { .. } | Heard::Pong { .. } | Heard::Unknown => {
            }
        }
    }
}
