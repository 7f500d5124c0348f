//! A pending ask of a run, with its answer form.

use countersign_core::State;
use countersign_core::asker::asker_name;
use countersign_hub::Hub;
use countersign_hub::inbox::find::find;
use countersign_hub::problem::Problem;
use countersign_runs::{PendingAskView, PendingKind};

use crate::item::{AnswerForm, ContextPart, FormErrors, HeldView, RefusedAttempt, part};
use crate::layout::formatting::{DisplayTime, display_time, waited};
use crate::layout::page::PageError;
use crate::layout::signed_in_user::SignedInUser;
use crate::lists::row::may_answer;
use crate::text::{SafeHtml, markdown_with_images};

pub struct RunPageAsk {
    pub id: String,
    pub agent_name: String,
    /// The headline, with a place for the agent's name.
    pub text: &'static str,
    pub title: String,
    pub body: Option<SafeHtml>,
    /// The context parts, as on the item's page, so that a person decides with the same information.
    pub parts: Vec<ContextPart>,
    pub since: DisplayTime,
    pub waited: String,
    /// A decision on hold.
    pub held: Option<HeldView>,
    /// `None` if the user may not answer, or not now.
    pub answer: Option<Box<AnswerForm>>,
}

/// An ask that waits behind the first one.
pub struct LaterAsk {
    pub id: String,
    pub agent_name: String,
}

impl LaterAsk {
    pub fn of(wait: &PendingAskView) -> Self {
        Self {
            id: wait.message_id.to_string(),
            agent_name: wait.agent_name.clone(),
        }
    }
}

impl RunPageAsk {
    /// Returns `None` if the ask was answered a moment ago.
    pub async fn of(hub: &Hub, user: &SignedInUser, wait: &PendingAskView) -> Result<Option<Self>, PageError> {
        let message = match find(hub, &wait.message_id).await {
            Ok(item) if item.message.state == State::Open => item,
            Ok(_) | Err(Problem::Gone | Problem::NotFound { .. }) => return Ok(None),
            Err(problem) => return Err(problem.into()),
        };
        let item = &message;
        let message = &message.message;
        let attempt = RefusedAttempt {
            sent: None,
            faults: &FormErrors::default(),
        };
        let now = hub.store.clock().now();
        let held = HeldView::of(hub, message, user, now).await?;
        let answer = if held.is_none() && may_answer(item, user) {
            AnswerForm::of(message, Vec::new(), &attempt)
        } else {
            None
        };
        Ok(Some(Self {
            id: message.id.to_string(),
            agent_name: asker_name(message, &item.agent_name).to_owned(),
            text: match wait.kind {
                PendingKind::Input => "{agent} waits for an answer",
                PendingKind::Permission => "{agent} wants to run this",
                PendingKind::Question => "{agent} has a question",
            },
            title: message.content.title.clone(),
            body: message.content.body.as_deref().map(markdown_with_images),
            parts: message.content.context.iter().map(part).collect(),
            since: display_time(message.received_at),
            waited: waited(message.received_at, now),
            held,
            answer: answer.map(Box::new),
        }))
    }
}
