//! When a run asks a person, and the message that person sees.

use std::collections::BTreeMap;

use countersign_protocol::a2h::{Agent, Choice, Priority};
use countersign_protocol::runs::strategy::UserAgent;
use countersign_protocol::runs::{Decision, Event};
use serde_json::{Value, json};

use super::{AgentCall, policy};
use crate::access::Actor;
use crate::excerpt;
use crate::message::{Content, Payload};
use crate::question::{Ask, Question};

const RUNTIME: &str = "run";
/// The reason in the event of a permission.
const POLICY_ASKS: &str = "policy-ask";
/// Where a shortened text sends its reader for the rest.
const REST_IS: &str = "see the run";
/// A decision for the whole run covers program and arguments only, not the input or other shown details.
const ALLOWED_FROM_NOW_ON: &str =
    "the same program with the same arguments runs without asking from now on, whatever input it is given";
const DENIED_FROM_NOW_ON: &str =
    "the same program with the same arguments is refused without asking from now on, whatever input it is given";

/// The turn of a user agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum UserTurn {
    /// No person is asked; this is the output of the agent.
    Passes(String),
    Asks {
        prompt: Option<String>,
    },
}

/// A segment started with an input has already answered its first user agent.
pub fn user_turn(agent: &UserAgent, call: &AgentCall, segment_input: &str) -> UserTurn {
    let preset = agent.preset_message.clone();
    if !agent.require_input {
        return UserTurn::Passes(preset.unwrap_or_else(|| call.message.clone()));
    }
    if call.number == 0 && !segment_input.is_empty() {
        return UserTurn::Passes(segment_input.to_owned());
    }
    let says = |text: &String| !text.is_empty();
    UserTurn::Asks {
        prompt: preset.filter(says).or_else(|| Some(call.message.clone()).filter(says)),
    }
}

#[derive(Debug, Clone, PartialEq)]
pub struct RunAsk {
    pub kind: AskKind,
    pub run_id: String,
    pub agent_name: String,
    pub strategy_name: String,
    pub cwd: String,
    pub resolvers: Vec<Actor>,
}

/// The question of a run or of one of its agents.
#[derive(Debug, Clone, PartialEq)]
pub enum AskKind {
    Input {
        prompt: Option<String>,
    },
    /// The answer is one of the texts of `Decision`.
    Permission {
        operation: String,
        resource: String,
        details: Option<Value>,
    },
    Question {
        tool_name: String,
        question: String,
    },
}

impl AskKind {
    /// The question; for a permission, the resource.
    pub fn prompt(&self) -> Option<&str> {
        match self {
            Self::Input { prompt } => prompt.as_deref(),
            Self::Permission { resource, .. } => Some(resource),
            Self::Question { question, .. } => Some(question),
        }
    }

    /// The event that asks. `id` is the protocol id of the ask.
    pub fn event(&self, agent_name: &str, id: &str) -> Event {
        let (agent_name, id) = (agent_name.to_owned(), id.to_owned());
        match self {
            Self::Input { prompt } => Event::RequestInput {
                agent_name,
                prompt: prompt.clone(),
                input_id: id,
            },
            Self::Permission {
                operation,
                resource,
                details,
            } => Event::RequestPermission {
                request_id: id,
                agent_name,
                tool_name: Some(policy::TOOL.to_owned()),
                operation: operation.clone(),
                resource: resource.clone(),
                reason: POLICY_ASKS.to_owned(),
                details: details.clone(),
            },
            Self::Question { tool_name, question } => Event::RequestQuestion {
                request_id: id,
                agent_name,
                tool_name: tool_name.clone(),
                question: question.clone(),
            },
        }
    }
}

/// The parts of the content that depend on the kind of ask.
struct Wording {
    /// The title is its first line, or `fallback_title` if it has none.
    request_text: String,
    fallback_title: String,
    body: Option<String>,
    context: Vec<Value>,
    question: Question,
}

impl Wording {
    fn text(prompt: &str, fallback_title: String) -> Self {
        Self {
            request_text: prompt.to_owned(),
            fallback_title,
            body: Some(shown(prompt)).filter(|text| !text.is_empty()),
            context: Vec::new(),
            question: Question::Text,
        }
    }

    fn permission(name: &str, operation: &str, resource: &str, details: Option<&Value>) -> Self {
        Self {
            request_text: format!("{name} {}: {resource}", request_phrase(operation)),
            fallback_title: format!("{name} needs your permission"),
            body: Some(details.and_then(not_shown).unwrap_or_default() + &fenced(&shown(resource))),
            context: details
                .map(|details| json!({"kind": "data", "data": details}))
                .into_iter()
                .collect(),
            question: Question::Select {
                options: Decision::ALL.map(choice).into(),
                allow_edit: false,
                many: false,
            },
        }
    }
}

pub fn content(ask: &RunAsk) -> Content {
    let name = &ask.agent_name;
    let wording = match &ask.kind {
        AskKind::Input { prompt } => Wording::text(
            prompt.as_deref().unwrap_or_default(),
            format!("{name} needs your input"),
        ),
        AskKind::Question { question, .. } => Wording::text(question, format!("{name} has a question")),
        AskKind::Permission {
            operation,
            resource,
            details,
        } => Wording::permission(name, operation, resource, details.as_ref()),
    };
    let title = excerpt::title(&wording.request_text).or_else(|| excerpt::title(&wording.fallback_title));
    Content {
        agent: Agent {
            // Ids of registered agents have no `#`, so a strategy cannot impersonate one.
            id: format!("{name}#{}", ask.run_id),
            run_id: ask.run_id.clone(),
            runtime: RUNTIME.to_owned(),
            project: Some(ask.strategy_name.clone()),
            labels: BTreeMap::from([("cwd".to_owned(), ask.cwd.clone())]),
        },
        title: title.unwrap_or_default(),
        body: wording.body,
        priority: Priority::Normal,
        tags: Vec::new(),
        context: wording.context,
        sensitive: false,
        // It cannot be declined: it is answered, or the run is stopped.
        payload: Payload::Ask(Ask {
            may_be_empty: matches!(wording.question, Question::Text),
            question: wording.question,
            may_respond: true,
            may_decline: false,
            open_ended: false,
            default_on_expire: None,
        }),
        resolvers: ask.resolvers.clone(),
    }
}

fn request_phrase(operation: &str) -> String {
    match operation {
        "command.execute" | "fs.exec" => "wants to run".to_owned(),
        "fs.read" => "wants to read".to_owned(),
        "fs.write" => "wants to write".to_owned(),
        other => format!("asks for {other}"),
    }
}

/// The warning about input that is not shown. It stands before the command, where the deciding person cannot miss it.
fn not_shown(details: &Value) -> Option<String> {
    let hidden = details["inputBytesNotShown"].as_u64()?;
    let all = details["inputBytes"].as_u64()?;
    Some(format!(
        "It is given {all} bytes of input. **{hidden} of them, in the middle, are not shown.**\n\n"
    ))
}

/// The exact text, unless it is too long for a page.
fn shown(text: &str) -> String {
    excerpt::shown(text, REST_IS)
}

/// A code block that Markdown leaves as it is: the fence is longer than any inside.
fn fenced(text: &str) -> String {
    let longest = text
        .split(|letter| letter != '`')
        .map(str::len)
        .max()
        .unwrap_or_default();
    let fence = "`".repeat(3.max(longest + 1));
    format!("{fence}\n{text}\n{fence}")
}

fn choice(decision: Decision) -> Choice {
    let (label, description) = match decision {
        Decision::Allow => ("Allow once", None),
        Decision::Deny => ("Deny once", None),
        Decision::AllowSession => ("Allow in this run", Some(ALLOWED_FROM_NOW_ON)),
        Decision::DenySession => ("Deny in this run", Some(DENIED_FROM_NOW_ON)),
    };
    let description = description.map(str::to_owned);
    Choice {
        value: decision.as_str().to_owned(),
        label: label.to_owned(),
        description,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn user(require_input: bool, preset: Option<&str>) -> UserAgent {
        UserAgent {
            require_input,
            preset_message: preset.map(str::to_owned),
        }
    }

    fn call(number: u64, message: &str) -> AgentCall {
        AgentCall {
            agent: "user".to_owned(),
            message: message.to_owned(),
            number,
        }
    }

    fn passes(text: &str) -> UserTurn {
        UserTurn::Passes(text.to_owned())
    }

    fn asks(prompt: Option<&str>) -> UserTurn {
        UserTurn::Asks {
            prompt: prompt.map(str::to_owned),
        }
    }

    #[test]
    fn an_agent_without_required_input_never_asks() {
        for (number, input) in [(0, ""), (0, "start"), (3, "start")] {
            assert_eq!(
                user_turn(&user(false, None), &call(number, "before"), input),
                passes("before")
            );
            assert_eq!(
                user_turn(&user(false, Some("preset")), &call(number, "before"), input),
                passes("preset")
            );
        }
    }

    #[test]
    fn a_start_input_answers_the_first_call_even_with_a_preset() {
        assert_eq!(
            user_turn(&user(true, None), &call(0, "start"), "start"),
            passes("start")
        );
        assert_eq!(
            user_turn(&user(true, Some("preset")), &call(0, "start"), "start"),
            passes("start")
        );
    }

    #[test]
    fn a_start_without_input_asks() {
        assert_eq!(user_turn(&user(true, None), &call(0, ""), ""), asks(None));
        assert_eq!(
            user_turn(&user(true, Some("Enter topic")), &call(0, ""), ""),
            asks(Some("Enter topic"))
        );
    }

    #[test]
    fn later_calls_ask_with_the_previous_output() {
        assert_eq!(
            user_turn(&user(true, None), &call(1, "before"), "start"),
            asks(Some("before"))
        );
        assert_eq!(user_turn(&user(true, None), &call(1, ""), "start"), asks(None));
        assert_eq!(
            user_turn(&user(true, Some("preset")), &call(1, "before"), "start"),
            asks(Some("preset"))
        );
        assert_eq!(
            user_turn(&user(true, Some("")), &call(1, "before"), "start"),
            asks(Some("before"))
        );
    }
}
