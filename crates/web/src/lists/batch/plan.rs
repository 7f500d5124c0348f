//! The effect of a batch on one item, or the reason why the item is skipped.

use countersign_core::asker::asker_name;
use countersign_core::kind::kind_label;
use countersign_core::outcome::ending;
use countersign_core::question::{Ask, Question};
use countersign_core::{Payload, State, Verdict};
use countersign_hub::Hub;
use countersign_hub::inbox::find::find;
use countersign_protocol::a2h::{APPROVE, Choice, DENY};
use countersign_protocol::id::MessageId;
use countersign_store::model::PersonView;
use serde_json::Value;

use super::action::{BatchAction, BatchRequest};
use crate::item::choice_label;
use crate::language::{counted, error_text, problem_text, say, t};
use crate::layout::formatting::actor_name;
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

/// Plans the items of one batch.
pub struct Planner<'a> {
    hub: &'a Hub,
    user: &'a SignedInUser,
    action: BatchAction,
    /// The choices of the first select, which the others have to share.
    shared: Option<SharedChoices>,
    /// The value that was chosen; empty before the review is sent.
    value: &'a str,
}

/// The choices of a select, and its agent.
pub struct SharedChoices {
    agent_id: String,
    pub options: Vec<Choice>,
}

impl SharedChoices {
    fn of(item: &PersonView) -> Option<Self> {
        let content = &item.message.content;
        match &content.payload {
            Payload::Ask(Ask {
                question: Question::Select {
                    options, many: false, ..
                },
                may_respond: true,
                ..
            }) => Some(Self {
                agent_id: content.agent.id.clone(),
                options: options.clone(),
            }),
            Payload::Ask(_) | Payload::Task(_) | Payload::Notify => None,
        }
    }
}

impl<'a> Planner<'a> {
    pub async fn of(hub: &'a Hub, user: &'a SignedInUser, batch: &BatchRequest, value: &'a str) -> Self {
        let mut shared = None;
        if batch.action == BatchAction::Answer {
            for id in &batch.ids {
                let item = find(hub, id).await.ok();
                shared = item.as_ref().and_then(SharedChoices::of);
                if shared.is_some() {
                    break;
                }
            }
        }
        Self {
            hub,
            user,
            action: batch.action,
            shared,
            value,
        }
    }

    pub fn choices(self) -> Vec<Choice> {
        self.shared.map(|shared| shared.options).unwrap_or_default()
    }

    /// An item that cannot be loaded is skipped with its error; the other items continue.
    pub async fn plan(&self, id: &MessageId) -> BatchPlan {
        match find(self.hub, id).await {
            Ok(item) => BatchPlan {
                id: id.clone(),
                title: item.message.content.title.clone(),
                agent: asker_name(&item.message, &item.agent_name).to_owned(),
                step: self.step(&item),
            },
            Err(problem) => BatchPlan {
                id: id.clone(),
                title: id.to_string(),
                agent: String::new(),
                step: Err(problem_text(&problem)),
            },
        }
    }

    fn step(&self, item: &PersonView) -> Result<(BatchStep, String), String> {
        match (&item.message.state, self.action) {
            (State::Delivered, BatchAction::Archive) => Ok((BatchStep::Archive, t("archived").to_owned())),
            (State::Delivered, _) => Err(t("it is a notice; archive it").to_owned()),
            (State::Resolved(resolution), _) => {
                let word = t(ending(resolution, &item.message.content).label).to_lowercase();
                let person = actor_name(&resolution.actor);
                Err(say!("already {done}, by {person}", done = word, person = person))
            }
            (State::Open, BatchAction::Archive) => Err(t("it needs an answer; only notices are archived").to_owned()),
            (State::Open, BatchAction::Snooze) => Ok((BatchStep::Snooze, t("snoozed").to_owned())),
            (State::Open, _) if let Some(hold) = &item.message.hold => Err(error_text(&hold.rejection().to_string())),
            (State::Open, _) if !may_answer(item, self.user) => Err(t("only other people can answer it").to_owned()),
            (State::Open, BatchAction::Approve) => answer(item, APPROVE),
            (State::Open, BatchAction::Deny) => answer(item, DENY),
            (State::Open, BatchAction::Decline) => decline(item),
            (State::Open, BatchAction::Complete) => complete(item),
            (State::Open, BatchAction::Answer) => self.choose(item),
        }
    }

    /// Only the same choices of the same agent are one question.
    fn choose(&self, item: &PersonView) -> Result<(BatchStep, String), String> {
        let (Some(shared), Some(own)) = (&self.shared, SharedChoices::of(item)) else {
            return Err(t("it isn't a single choice; open it to answer").to_owned());
        };
        if own.agent_id != shared.agent_id {
            return Err(t("it is of another agent; open it to answer").to_owned());
        }
        if own.options != shared.options {
            return Err(t("it has other choices; open it to answer").to_owned());
        }
        let text = match own.options.iter().find(|option| option.value == self.value) {
            Some(option) => say!("answered “{answer}”", answer = option.label),
            None if self.value.is_empty() => t("answered with your choice").to_owned(),
            None => {
                return Err(say!(
                    "it does not offer “{value}”; open it to answer",
                    value = self.value
                ));
            }
        };
        Ok((BatchStep::Decide(Verdict::Answered(self.value.into())), text))
    }
}

/// Only for a confirm that offers exactly this value: nothing is guessed from labels or positions.
fn answer(item: &PersonView, value: &str) -> Result<(BatchStep, String), String> {
    let content = &item.message.content;
    let ask = match &content.payload {
        Payload::Ask(ask) => ask,
        Payload::Task(_) => return Err(t("it is a task; open it to mark it done").to_owned()),
        Payload::Notify => return Err(t("it is a notice").to_owned()),
    };
    let Ask {
        question: Question::Confirm { options, .. },
        may_respond,
        ..
    } = ask
    else {
        return Err(say!(
            "it asks for something else ({kind}); open it to answer",
            kind = t(kind_label(content.kind_word()))
        ));
    };
    let Some(option) = options.iter().find(|option| option.value == value) else {
        return Err(say!("it does not offer “{value}”; open it to answer", value = value));
    };
    if !may_respond {
        return Err(t("its agent accepts no answer; it can only be skipped").to_owned());
    }
    let verdict = Verdict::Answered(Value::String(value.to_owned()));
    Ok((
        BatchStep::Decide(verdict),
        say!("answered “{answer}”", answer = choice_label(option)),
    ))
}

fn decline(item: &PersonView) -> Result<(BatchStep, String), String> {
    match &item.message.content.payload {
        Payload::Ask(ask) if ask.may_decline => Ok((BatchStep::Decide(Verdict::Declined), t("skipped").to_owned())),
        Payload::Ask(_) => Err(t("it cannot be skipped; open it to answer").to_owned()),
        Payload::Task(_) => Err(t("it is a task; open it to mark it done").to_owned()),
        Payload::Notify => Err(t("it is a notice").to_owned()),
    }
}

/// The steps of the checklist stay as they are ticked; the review says how many are open.
fn complete(item: &PersonView) -> Result<(BatchStep, String), String> {
    let Payload::Task(task) = &item.message.content.payload else {
        return Err(t("it is no task; open it to answer").to_owned());
    };
    let steps = Some(task.checklist.clone()).filter(|steps| !steps.is_empty());
    let text = match task.checklist.iter().filter(|step| !step.done).count() {
        0 => t("marked done").to_owned(),
        open => counted(
            open,
            "marked done, with 1 step open",
            "marked done, with {count} steps open",
        ),
    };
    Ok((BatchStep::Decide(Verdict::Completed(steps)), text))
}
