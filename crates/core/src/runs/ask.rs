//! The message a person sees when a run asks.

use std::collections::BTreeMap;

use countersign_protocol::a2h::{Agent, Choice, Priority};
use countersign_protocol::runs::Decision;
use serde_json::{Value, json};

use crate::actor::Actor;
use crate::excerpt;
use crate::message::{Content, Payload, RunSource, Source};
use crate::question::{Ask, Question};

const RUNTIME: &str = "run";
const REST_IS: &str = "see the run";
/// A decision for the whole run covers program and arguments only, not the input or other shown details.
const ALLOWED_FROM_NOW_ON: &str =
    "the same program with the same arguments runs without asking from now on, whatever input it is given";
const DENIED_FROM_NOW_ON: &str =
    "the same program with the same arguments is refused without asking from now on, whatever input it is given";

#[derive(Debug, Clone, PartialEq)]
pub struct RunAsk {
    pub kind: AskKind,
    pub run_id: String,
    pub agent_name: String,
    pub strategy_name: String,
    pub cwd: String,
    pub resolvers: Vec<Actor>,
}

#[derive(Debug, Clone, PartialEq)]
pub enum AskKind {
    Input {
        prompt: Option<String>,
    },
    Permission {
        operation: String,
        resource: String,
        details: Option<Value>,
    },
    Question {
        question: String,
    },
}

impl AskKind {
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::Input { .. } => "input",
            Self::Permission { .. } => "permission",
            Self::Question { .. } => "question",
        }
    }
}

pub fn content(ask: &RunAsk) -> Content {
    Content {
        agent: agent(ask),
        title: title(ask),
        body: body(&ask.kind),
        priority: Priority::Normal,
        tags: Vec::new(),
        context: context(&ask.kind),
        sensitive: false,
        matter: Payload::Ask(question(&ask.kind)),
        resolvers: ask.resolvers.clone(),
    }
}

/// `input_id` is the protocol id of this ask, for all kinds.
pub fn source(ask: &RunAsk, input_id: &str) -> Source {
    Source::Runs(RunSource {
        agent_name: ask.agent_name.clone(),
        ask: ask.kind.as_str().to_owned(),
        input_id: input_id.to_owned(),
        run_id: ask.run_id.clone(),
        strategy: ask.strategy_name.clone(),
    })
}

/// Ids of registered agents have no `#`, so a strategy cannot impersonate one.
fn agent(ask: &RunAsk) -> Agent {
    Agent {
        id: format!("{}#{}", ask.agent_name, ask.run_id),
        run_id: ask.run_id.clone(),
        runtime: RUNTIME.to_owned(),
        project: Some(ask.strategy_name.clone()),
        labels: BTreeMap::from([("cwd".to_owned(), ask.cwd.clone())]),
    }
}

fn title(ask: &RunAsk) -> String {
    let name = &ask.agent_name;
    let (said, otherwise) = match &ask.kind {
        AskKind::Input { prompt } => (prompt.clone().unwrap_or_default(), format!("{name} needs your input")),
        AskKind::Question { question } => (question.clone(), format!("{name} has a question")),
        AskKind::Permission {
            operation, resource, ..
        } => (
            format!("{name} {}: {resource}", request_phrase(operation)),
            format!("{name} needs your permission"),
        ),
    };
    excerpt::title(&said)
        .or_else(|| excerpt::title(&otherwise))
        .unwrap_or_default()
}

fn request_phrase(operation: &str) -> String {
    match operation {
        "command.execute" | "fs.exec" => "wants to run".to_owned(),
        "fs.read" => "wants to read".to_owned(),
        "fs.write" => "wants to write".to_owned(),
        other => format!("asks for {other}"),
    }
}

/// The exact prompt, unless it is too long for a page.
fn body(kind: &AskKind) -> Option<String> {
    match kind {
        AskKind::Input { prompt: text } => text.as_deref().filter(|text| !text.is_empty()).map(shown),
        AskKind::Question { question } => Some(shown(question)).filter(|text| !text.is_empty()),
        AskKind::Permission { resource, details, .. } => {
            Some(details.as_ref().and_then(not_shown).unwrap_or_default() + &fenced(&shown(resource)))
        }
    }
}

/// Placed before the command, where the deciding person cannot miss it.
fn not_shown(details: &Value) -> Option<String> {
    let hidden = details["inputBytesNotShown"].as_u64()?;
    let all = details["inputBytes"].as_u64()?;
    Some(format!(
        "It is given {all} bytes of input. **{hidden} of them, in the middle, are not shown.**\n\n"
    ))
}

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

fn context(kind: &AskKind) -> Vec<Value> {
    match kind {
        AskKind::Permission {
            details: Some(details), ..
        } => vec![json!({"kind": "data", "data": details})],
        AskKind::Permission { details: None, .. } | AskKind::Input { .. } | AskKind::Question { .. } => Vec::new(),
    }
}

/// A run ask cannot be declined: it is answered, or the run is stopped.
fn question(kind: &AskKind) -> Ask {
    let (question, may_be_empty) = match kind {
        AskKind::Input { .. } | AskKind::Question { .. } => (Question::Text, true),
        AskKind::Permission { .. } => {
            let options = Decision::ALL.map(choice).into();
            (
                Question::Select {
                    options,
                    allow_edit: false,
                    many: false,
                },
                false,
            )
        }
    };
    Ask {
        question,
        may_respond: true,
        may_decline: false,
        open_ended: false,
        may_be_empty,
        default_on_expire: None,
    }
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
