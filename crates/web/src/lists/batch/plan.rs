//! The effect of a batch on one item, or the reason why the item is skipped.

use countersign_core::asker::asker_name;
use countersign_core::question::{Ask, Question};
use countersign_core::{Payload, State, Verdict};
use countersign_hub::Hub;
use countersign_hub::inbox::find::find;
use countersign_hub::inbox::kind::kind_label;
use countersign_hub::inbox::outcome::ending;
use countersign_protocol::a2h::{APPROVE, DENY};
use countersign_protocol::id::MessageId;
use countersign_store::model::PersonView;
use serde_json::Value;

use super::action::BatchAction;
use crate::layout::formatting::{actor_name, problem_text};
use crate::layout::signed_in_user::SignedInUser;
use crate::lists::row::may_answer;

/// The change to one item.
#[derive(Debug, Clone, PartialEq)]
pub enum BatchStep {
    Decide(Verdict),
    Snooze,
    Archive,
}

/// One item of the batch, as the review shows it.
pub struct BatchPlan {
    pub id: MessageId,
    pub title: String,
    pub agent: String,
    /// The change and its description, or the reason why the item is skipped.
    pub step: Result<(BatchStep, String), String>,
}

impl BatchPlan {
    /// An item that cannot be loaded is skipped with its error; the other items continue.
    pub async fn of(hub: &Hub, id: &MessageId, action: BatchAction, user: &SignedInUser) -> Self {
        match find(hub, id).await {
            Ok(item) => Self {
                id: id.clone(),
                title: item.message.content.title.clone(),
                agent: asker_name(&item.message, &item.agent_name).to_owned(),
                step: step(action, &item, user),
            },
            Err(problem) => Self {
                id: id.clone(),
                title: id.to_string(),
                agent: String::new(),
                step: Err(problem_text(&problem)),
            },
        }
    }
}

fn step(action: BatchAction, item: &PersonView, user: &SignedInUser) -> Result<(BatchStep, String), String> {
    match (&item.message.state, action) {
        (State::Delivered, BatchAction::Archive) => Ok((BatchStep::Archive, "archived".to_owned())),
        (State::Delivered, BatchAction::Approve | BatchAction::Deny | BatchAction::Decline | BatchAction::Snooze) => {
            Err("it is a notice; archive it".to_owned())
        }
        (State::Resolved(resolution), _) => {
            let word = ending(resolution, &item.message.content).label.to_lowercase();
            Err(format!("already {word}, by {}", actor_name(&resolution.actor)))
        }
        (State::Open, BatchAction::Archive) => Err("it needs an answer; only notices are archived".to_owned()),
        (State::Open, BatchAction::Snooze) => Ok((BatchStep::Snooze, "snoozed".to_owned())),
        (State::Open, BatchAction::Approve | BatchAction::Deny | BatchAction::Decline)
            if let Some(hold) = &item.message.hold =>
        {
            Err(hold.rejection().to_string())
        }
        (State::Open, BatchAction::Approve | BatchAction::Deny | BatchAction::Decline) if !may_answer(item, user) => {
            Err("only other people can answer it".to_owned())
        }
        (State::Open, BatchAction::Approve) => answer(item, APPROVE),
        (State::Open, BatchAction::Deny) => answer(item, DENY),
        (State::Open, BatchAction::Decline) => decline(item),
    }
}

/// Only for a confirm that offers exactly this value: nothing is guessed from labels or positions.
fn answer(item: &PersonView, value: &str) -> Result<(BatchStep, String), String> {
    let content = &item.message.content;
    let ask = match &content.payload {
        Payload::Ask(ask) => ask,
        Payload::Task(_) => return Err("it is a task; open it to mark it done".to_owned()),
        Payload::Notify => return Err("it is a notice".to_owned()),
    };
    let Ask {
        question: Question::Confirm { options, .. },
        may_respond,
        ..
    } = ask
    else {
        return Err(format!(
            "it asks for something else ({}); open it to answer",
            kind_label(content.kind_word())
        ));
    };
    let Some(option) = options.iter().find(|option| option.value == value) else {
        return Err(format!("it does not offer “{value}”; open it to answer"));
    };
    if !may_respond {
        return Err("its agent accepts no answer; it can only be skipped".to_owned());
    }
    let verdict = Verdict::Answered(Value::String(value.to_owned()));
    Ok((BatchStep::Decide(verdict), format!("answered “{}”", option.label)))
}

fn decline(item: &PersonView) -> Result<(BatchStep, String), String> {
    match &item.message.content.payload {
        Payload::Ask(ask) if ask.may_decline => Ok((BatchStep::Decide(Verdict::Declined), "skipped".to_owned())),
        Payload::Ask(_) => Err("it cannot be skipped; open it to answer".to_owned()),
        Payload::Task(_) => Err("it is a task; open it to mark it done".to_owned()),
        Payload::Notify => Err("it is a notice".to_owned()),
    }
}
