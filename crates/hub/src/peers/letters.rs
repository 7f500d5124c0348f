//! Letters to runs that another hub moves: written to the store, announced, and answered by a word.

use std::sync::Arc;
use std::time::Duration;

use countersign_protocol::runs::{self, ClientMessage};
use countersign_store::StoreError;
use countersign_store::ops::run::{DropLetter, Letter, LookAtRun, ReadMail, RunState, WriteToRun};
use serde::{Deserialize, Serialize};
use tokio::time::timeout;
use uuid::Uuid;

use super::signal::Signal;
use crate::app::Hub;
use crate::problem::Problem;
use crate::runs::Refusal;

/// Long enough for another hub to take over, should that be needed.
const PATIENCE: Duration = Duration::from_secs(10);
/// What is older is not done any more: who wrote it has given up, and may have thought better of it.
const GOOD_FOR: Duration = Duration::from_secs(30);
const BEFORE_ANOTHER_LOOK: Duration = Duration::from_millis(50);
const MOST_LOOKS: usize = 100;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reply {
    Done,
    Refused {
        code: String,
        message: String,
    },
    /// And it will not be.
    Undone,
}

/// Why nobody knows what came of a letter, or why nothing did.
pub enum Unheard {
    Store(StoreError),
    Undone,
    /// It may be done or not.
    Unanswered,
}

impl From<StoreError> for Unheard {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

const UNDONE: &str = "the run is being taken over, and was not ready in time";
const UNANSWERED: &str = "the hub that moves the run did not answer in time";

impl From<Unheard> for Refusal {
    fn from(unheard: Unheard) -> Self {
        match unheard {
            Unheard::Store(error) => error.into(),
            Unheard::Undone => Self::internal(&UNDONE),
            Unheard::Unanswered => Self::unsure(&UNANSWERED),
        }
    }
}

impl From<Unheard> for Problem {
    fn from(unheard: Unheard) -> Self {
        let id = Uuid::new_v4();
        match unheard {
            Unheard::Store(error) => error.into(),
            Unheard::Undone => {
                tracing::warn!(%id, UNDONE);
                Self::Unavailable { id }
            }
            Unheard::Unanswered => {
                tracing::warn!(%id, UNANSWERED);
                Self::Unsure { id }
            }
        }
    }
}

impl Hub {
    /// What a client said to a run that is not here. Nothing if no hub moves it.
    pub async fn write_to_run(&self, run_id: &str, message: &ClientMessage) -> Result<Option<Reply>, Unheard> {
        let Some(hub) = self.me.upgrade().filter(|_| self.store.is_shared()) else {
            return Ok(None);
        };
        let body = serde_json::to_string(message).map_err(StoreError::from)?;
        let letter = WriteToRun {
            run_id: run_id.to_owned(),
            body,
        };
        let Some(number) = self.store.run(letter).await? else {
            return Ok(None);
        };
        let replied = self.peers.letters.expect(number);
        self.peers.say(|| Signal::Letter);
        // This very hub may be taking the run over.
        open(&hub);
        match timeout(PATIENCE, replied).await {
            Ok(Ok(Reply::Undone)) => Err(Unheard::Undone),
            Ok(Ok(reply)) => Ok(Some(reply)),
            Ok(Err(_)) | Err(_) => Err(Unheard::Unanswered),
        }
    }
}

/// Does what was written to the runs of this hub: for one run in the order in which it was written, and no run waits for
/// another.
pub fn open(hub: &Arc<Hub>) {
    let hub = Arc::clone(hub);
    tokio::spawn(async move {
        let since = hub.store.clock().now().minus(GOOD_FOR);
        let letters = match hub
            .store
            .run(ReadMail {
                node: hub.store.node(),
                since,
            })
            .await
        {
            Ok(letters) => letters,
            Err(error) => return tracing::warn!(%error, "letters to runs could not be read"),
        };
        let (late, letters): (Vec<_>, Vec<_>) = letters.into_iter().partition(|letter| letter.is_late);
        for run_id in hub.peers.letters.take(letters) {
            tokio::spawn(deal_with(Arc::clone(&hub), run_id));
        }
        for letter in late {
            throw_away(&hub, letter.number).await;
        }
    });
}

async fn deal_with(hub: Arc<Hub>, run_id: String) {
    while let Some(letter) = hub.peers.letters.next(&run_id) {
        let number = letter.number;
        let reply = match whereabouts(&hub, &run_id).await {
            Whereabouts::Here => act(&hub, letter).await,
            Whereabouts::OnItsWay => Reply::Undone,
            // It is for the hub that has the run now.
            Whereabouts::Elsewhere => {
                hub.peers.letters.give_back(number);
                continue;
            }
        };
        throw_away(&hub, number).await;
        if !hub.peers.letters.answered(number, reply.clone()) {
            hub.peers.say(|| Signal::Answered { letter: number, reply });
        }
    }
}

/// One that stays although it should not is known as done, and late before that is forgotten.
async fn throw_away(hub: &Hub, number: i64) {
    if let Err(error) = hub.store.run(DropLetter { number }).await {
        tracing::warn!(%error, "a letter to a run could not be thrown away");
    }
}

enum Whereabouts {
    /// Or over, which is the same to whoever writes to it.
    Here,
    Elsewhere,
    OnItsWay,
}

/// A run that is being taken over is this hub's a moment before it is here.
async fn whereabouts(hub: &Hub, run_id: &str) -> Whereabouts {
    for _ in 0..MOST_LOOKS {
        if hub.is_under_way_here(run_id) {
            return Whereabouts::Here;
        }
        match hub
            .store
            .run(LookAtRun {
                run_id: run_id.to_owned(),
            })
            .await
        {
            Ok(Some(run)) if run.summary.state == RunState::Running && run.node == hub.store.node() => {}
            Ok(Some(run)) if run.summary.state == RunState::Running => return Whereabouts::Elsewhere,
            Ok(Some(_) | None) => return Whereabouts::Here,
            Err(error) => tracing::warn!(run_id, %error, "a run with letters could not be looked at"),
        }
        tokio::time::sleep(BEFORE_ANOTHER_LOOK).await;
    }
    Whereabouts::OnItsWay
}

async fn act(hub: &Arc<Hub>, letter: Letter) -> Reply {
    let done = match runs::read(letter.body.as_bytes()).map(|received| received.message) {
        Ok(ClientMessage::StopRun { run_id }) => {
            hub.stop_run_here(&run_id).await;
            Ok(())
        }
        Ok(ClientMessage::SteerRun { run_id, text }) => hub.steer_run_here(&run_id, text).await,
        Ok(ClientMessage::UpdatePolicy(change)) => hub.change_policy_here(change).await,
        Ok(_) | Err(_) => Err(Refusal::internal(&"a letter to a run that is none")),
    };
    match done {
        Ok(()) => Reply::Done,
        Err(Refusal { code, message }) => Reply::Refused {
            code: code.to_string(),
            message,
        },
    }
}
