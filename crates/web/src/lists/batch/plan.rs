//! What a batch means for one item, or why it is left as it is.

use countersign_core::question::{Ask, Question};
use countersign_core::{Matter, State, Verdict};
use countersign_hub::Hub;
use countersign_hub::inbox::asker::asker;
use countersign_hub::inbox::find::find;
use countersign_hub::inbox::kind::kind_words;
use countersign_hub::inbox::outcome;
use countersign_protocol::a2h::{APPROVE, DENY};
use countersign_protocol::id::MessageId;
use countersign_store::model::Item;
use serde_json::Value;

use super::act::Act;
use crate::frame::signed_in::Visitor;
use crate::lists::row::may_answer;

/// What can be done to an item.
#[derive(Debug, Clone, PartialEq)]
pub enum Step {
    Decide(Verdict),
    SetAside,
    Archive,
}

/// One line of the review.
pub struct Plan {
    pub id: MessageId,
    pub title: String,
    pub agent: String,
    /// What to do and what the item is afterwards, or why nothing is done.
    pub step: Result<(Step, String), String>,
}

impl Plan {
    /// What cannot be found or read now is a reason like any other: the rest goes on.
    pub async fn of(hub: &Hub, id: &MessageId, act: Act, visitor: &Visitor) -> Self {
        match find(hub, id).await {
            Ok(item) => Self {
                id: id.clone(),
                title: item.message.content.title.clone(),
                agent: asker(&item.message).to_owned(),
                step: step(act, &item, visitor),
            },
            Err(problem) => Self {
                id: id.clone(),
                title: id.to_string(),
                agent: String::new(),
                step: Err(problem.message()),
            },
        }
    }
}

fn step(act: Act, item: &Item, visitor: &Visitor) -> Result<(Step, String), String> {
    match (&item.message.state, act) {
        (State::Delivered, Act::Archive) => Ok((Step::Archive, "archived".to_owned())),
        (State::Delivered, Act::Approve | Act::Deny | Act::Decline | Act::Aside) => {
            Err("it is a notice and wants no answer; archive it".to_owned())
        }
        (State::Resolved(resolution), _) => {
            let words = outcome::in_words(resolution, &item.message.content);
            Err(format!("already {words}, by {}", resolution.actor))
        }
        (State::Open, Act::Archive) => Err("it waits for an answer; only notices are archived".to_owned()),
        (State::Open, Act::Aside) => Ok((Step::SetAside, "set aside".to_owned())),
        (State::Open, Act::Approve | Act::Deny | Act::Decline) if !may_answer(item, visitor) => {
            Err("it is not yours to answer".to_owned())
        }
        (State::Open, Act::Approve) => answer(item, APPROVE),
        (State::Open, Act::Deny) => answer(item, DENY),
        (State::Open, Act::Decline) => decline(item),
    }
}

/// Only a confirm whose asker offers this very option: nothing is guessed from its words or its place.
fn answer(item: &Item, value: &str) -> Result<(Step, String), String> {
    let content = &item.message.content;
    let ask = match &content.matter {
        Matter::Ask(ask) => ask,
        Matter::Task(_) => return Err("it is a task; open it to complete or dismiss it".to_owned()),
        Matter::Notify => return Err("it is a notice and wants no answer".to_owned()),
    };
    let Ask {
        question: Question::Confirm { options, .. },
        may_respond,
        ..
    } = ask
    else {
        return Err(format!(
            "it asks for something else ({}); open it to answer",
            kind_words(content.kind_word())
        ));
    };
    let Some(option) = options.iter().find(|option| option.value == value) else {
        return Err(format!("it does not offer “{value}”; open it to answer"));
    };
    if !may_respond {
        return Err("its asker withdrew answering; it can only be declined".to_owned());
    }
    let verdict = Verdict::Answered(Value::String(value.to_owned()));
    Ok((Step::Decide(verdict), format!("answered {}", option.label)))
}

fn decline(item: &Item) -> Result<(Step, String), String> {
    match &item.message.content.matter {
        Matter::Ask(ask) if ask.may_decline => Ok((Step::Decide(Verdict::Declined), "declined".to_owned())),
        Matter::Ask(_) => Err("its asker withdrew declining; open it to answer".to_owned()),
        Matter::Task(_) => Err("it is a task; open it to complete or dismiss it".to_owned()),
        Matter::Notify => Err("it is a notice and wants no answer".to_owned()),
    }
}
