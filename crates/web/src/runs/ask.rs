//! What a run waits for, with the form by which it is answered.

use countersign_core::State;
use countersign_hub::Hub;
use countersign_hub::inbox::asker::asker;
use countersign_hub::inbox::find::find;
use countersign_hub::problem::Problem;
use countersign_hub::runs::{Asked, Wait};

use crate::frame::format::{Instant, instant, waited};
use crate::frame::page::Failure;
use crate::frame::signed_in::Visitor;
use crate::item::{Again, Answer, Faults, Part, part};
use crate::lists::row::may_answer;
use crate::text::{Safe, markdown};

pub struct Ask {
    pub id: String,
    pub agent_name: String,
    /// What it does, after its name.
    pub words: &'static str,
    pub title: String,
    pub body: Option<Safe>,
    /// What the item's page shows beside it: nobody decides here on less.
    pub parts: Vec<Part>,
    pub since: Instant,
    pub waited: String,
    /// For those who may.
    pub answer: Option<Box<Answer>>,
}

/// One that waits behind the first.
pub struct Later {
    pub id: String,
    pub agent_name: String,
}

impl Later {
    pub fn of(wait: &Wait) -> Self {
        Self {
            id: wait.message_id.to_string(),
            agent_name: wait.agent_name.clone(),
        }
    }
}

impl Ask {
    /// Nothing if it was answered a moment ago.
    pub async fn of(hub: &Hub, visitor: &Visitor, wait: &Wait) -> Result<Option<Self>, Failure> {
        let message = match find(hub, &wait.message_id).await {
            Ok(item) if item.message.state == State::Open => item,
            Ok(_) | Err(Problem::Gone | Problem::NotFound { .. }) => return Ok(None),
            Err(problem) => return Err(problem.into()),
        };
        let item = &message;
        let message = &message.message;
        let again = Again {
            sent: None,
            faults: &Faults::default(),
        };
        let answer = if may_answer(item, visitor) {
            Answer::of(message, Vec::new(), &again)
        } else {
            None
        };
        Ok(Some(Self {
            id: message.id.to_string(),
            agent_name: asker(message).to_owned(),
            words: match wait.kind {
                Asked::Input => "waits for an answer",
                Asked::Permission => "wants to run this",
                Asked::Question => "has a question",
            },
            title: message.content.title.clone(),
            body: message.content.body.as_deref().map(markdown),
            parts: message.content.context.iter().map(part).collect(),
            since: instant(message.received_at),
            waited: waited(message.received_at, hub.store.clock().now()),
            answer: answer.map(Box::new),
        }))
    }
}
