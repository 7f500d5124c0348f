//! Letters to runs that another hub moves: written to the store, announced, and answered by a word.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use countersign_protocol::runs::{self, ClientMessage};
use countersign_store::StoreError;
use countersign_store::ops::run::{Letter, LookAtRun, RunState, TakeMail, WriteToRun};
use serde::{Deserialize, Serialize};
use tokio::sync::oneshot;
use tokio::time::timeout;

use super::signal::Signal;
use crate::app::Hub;
use crate::runs::Refusal;

/// Long enough for another hub to take over, should that be needed.
const PATIENCE: Duration = Duration::from_secs(10);
const BEFORE_ANOTHER_LOOK: Duration = Duration::from_millis(50);
const MOST_LOOKS: usize = 100;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reply {
    Done,
    Refused { code: String, message: String },
}

#[derive(Default)]
pub struct Letters(Mutex<HashMap<i64, oneshot::Sender<Reply>>>);

impl Letters {
    fn expect(&self, letter: i64) -> oneshot::Receiver<Reply> {
        let (reply, replied) = oneshot::channel();
        let mut expected = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        expected.retain(|_, waiting| !waiting.is_closed());
        expected.insert(letter, reply);
        replied
    }

    pub fn answered(&self, letter: i64, reply: Reply) {
        let expected = self.0.lock().unwrap_or_else(PoisonError::into_inner).remove(&letter);
        // It may have been written on another node, or nobody waits any more.
        let _ = expected.map(|expected| expected.send(reply));
    }
}

impl Hub {
    /// What a client said to a run that is not here. Nothing if no other hub moves it.
    pub async fn write_to_run(&self, run_id: &str, message: &ClientMessage) -> Result<Option<Reply>, StoreError> {
        if !self.store.is_shared() {
            return Ok(None);
        }
        let (run_id, body) = (run_id.to_owned(), serde_json::to_string(message)?);
        let Some(number) = self.store.run(WriteToRun { run_id, body }).await? else { return Ok(None) };
        let replied = self.peers.letters.expect(number);
        self.peers.say(|| Signal::Letter);
        match timeout(PATIENCE, replied).await {
            Ok(Ok(reply)) => Ok(Some(reply)),
            Ok(Err(_)) | Err(_) => Err(StoreError::Unavailable("the hub that moves the run did not answer".to_owned())),
        }
    }
}

/// Takes out what was written to the runs of this hub, and does it.
pub fn open(hub: &Arc<Hub>) {
    let hub = Arc::clone(hub);
    tokio::spawn(async move {
        let taken = hub.store.run(TakeMail { node: hub.store.node() }).await;
        match taken {
            Ok(letters) => {
                for letter in letters {
                    answer(&hub, letter).await;
                }
            }
            Err(error) => tracing::warn!(%error, "letters to runs could not be read"),
        }
    });
}

/// A run that is being taken over is this hub's a moment before it is here.
async fn until_here(hub: &Hub, run_id: &str) {
    for _ in 0..MOST_LOOKS {
        if hub.runs.get(run_id).is_some_and(|run| !run.is_elsewhere()) {
            return;
        }
        let found = hub.store.run(LookAtRun { run_id: run_id.to_owned() }).await;
        if !matches!(found, Ok(Some(run)) if run.summary.state == RunState::Running && run.node == hub.store.node()) {
            return;
        }
        tokio::time::sleep(BEFORE_ANOTHER_LOOK).await;
    }
}

async fn answer(hub: &Arc<Hub>, Letter { number, run_id, body }: Letter) {
    until_here(hub, &run_id).await;
    let done = match runs::read(body.as_bytes()).map(|received| received.message) {
        Ok(ClientMessage::StopRun { run_id }) => {
            hub.stop_run_here(&run_id).await;
            Ok(())
        }
        Ok(ClientMessage::SteerRun { run_id, text }) => hub.steer_run_here(&run_id, text).await,
        Ok(ClientMessage::UpdatePolicy(change)) => hub.change_policy_here(change).await,
        Ok(_) | Err(_) => Err(Refusal::internal(&"a letter to a run that is none")),
    };
    let reply = match done {
        Ok(()) => Reply::Done,
        Err(Refusal { code, message }) => Reply::Refused { code: code.to_string(), message },
    };
    hub.peers.say(|| Signal::Answered { letter: number, reply });
}
