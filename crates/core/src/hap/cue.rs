//! Translates a cue into core content.

use std::collections::BTreeMap;

use countersign_protocol::a2h::{APPROVE, Agent, Choice, DENY, Priority};
use countersign_protocol::hap::{Confirm, CueField, CueKind, CueOffer, CuePayload};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::access::Actor;
use crate::audit::Digest;
use crate::excerpt;
use crate::message::{Content, HapSource, Payload};
use crate::question::{Ask, Question};

const PAUSE_PROMPT: &str = "Paused. Click Continue when you are ready.";

/// The terminal an agent runs in, as reported when it joined.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Terminal {
    pub agent_id: String,
    pub runtime: String,
    pub project_dir: String,
    /// The shell: `bash`, `zsh`, …, or `unknown`.
    pub terminal: String,
}

/// A cue, parsed from the agent's envelope.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Cue {
    pub kind: CueKind,
    pub prompt: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub payload: Option<Map<String, Value>>,
}

impl Cue {
    /// The parsed payload. A pause has a single button.
    pub fn read_payload(&self) -> Option<CuePayload> {
        match (self.kind, &self.payload) {
            (CueKind::Pause, _) => Some(CuePayload::Confirm(Confirm {
                text: None,
                confirm_label: "Continue".to_owned(),
                cancel_label: None,
            })),
            (CueKind::Cue, Some(payload)) => Some(CuePayload::read(payload)),
            (CueKind::Cue, None) => None,
        }
    }

    /// A one-line warning to the agent about its payload.
    pub fn warning(&self) -> Option<String> {
        match self.read_payload()? {
            CuePayload::Unknown { reason } => Some(format!(
                "the payload is shown as JSON and answered with free text: {reason}"
            )),
            CuePayload::Choice { .. } | CuePayload::Confirm(_) | CuePayload::Form(_) => None,
        }
    }
}

/// The dedup key: two cues of one agent with the same digest are the same cue.
pub fn digest(cue: &Cue) -> Digest {
    let payload = cue.payload.as_ref().map(|payload| Value::Object(payload.clone()));
    Digest::of(json!([cue.kind.as_str(), cue.prompt, payload]).to_string().as_bytes())
}

/// The store later adds the ids of superseded cues.
pub fn source(cue: &Cue, terminal: &Terminal) -> HapSource {
    HapSource {
        cue: cue.kind.as_str().to_owned(),
        imported_at: None,
        project_dir: terminal.project_dir.clone(),
        runtime: terminal.runtime.clone(),
        supersedes: None,
        terminal: terminal.terminal.clone(),
    }
}

/// The only resolver is the person who owns the terminal's token.
pub fn content(cue: &Cue, terminal: &Terminal, person: &str) -> Content {
    let payload = cue.read_payload();
    let is_bare_pause = cue.kind == CueKind::Pause && cue.prompt.trim().is_empty();
    let prompt = if is_bare_pause {
        PAUSE_PROMPT
    } else {
        cue.prompt.as_str()
    };
    let mut body = excerpt::shown(prompt, "open the whole text");
    if let Some(CuePayload::Confirm(Confirm { text: Some(text), .. })) = &payload
        && text.trim() != prompt.trim()
    {
        body = format!("{body}\n\n{text}");
    }
    let unknown = matches!(payload, Some(CuePayload::Unknown { .. }));
    let raw = cue.payload.clone().filter(|_| unknown).map(Value::Object);
    Content {
        agent: Agent {
            id: terminal.agent_id.clone(),
            run_id: terminal.agent_id.clone(),
            runtime: terminal.runtime.clone(),
            project: project(&terminal.project_dir),
            labels: BTreeMap::new(),
        },
        title: excerpt::title(prompt).unwrap_or_else(|| "…".to_owned()),
        body: Some(body),
        priority: Priority::Normal,
        tags: Vec::new(),
        context: raw
            .map(|data| json!({"kind": "data", "data": data}))
            .into_iter()
            .collect(),
        sensitive: false,
        payload: Payload::Ask(Ask {
            question: question(payload),
            may_respond: true,
            may_decline: true,
            open_ended: true,
            may_be_empty: false,
            default_on_expire: None,
        }),
        resolvers: vec![Actor::human(person)],
    }
}

fn question(payload: Option<CuePayload>) -> Question {
    match payload {
        None | Some(CuePayload::Unknown { .. }) => Question::Text,
        Some(CuePayload::Choice { offers, many }) => Question::Select {
            options: offers.iter().map(choice).collect(),
            allow_edit: false,
            many,
        },
        Some(CuePayload::Confirm(Confirm {
            confirm_label,
            cancel_label,
            ..
        })) => {
            let option = |value: &str, label: String| Choice {
                value: value.to_owned(),
                label,
                description: None,
            };
            let options = [
                Some(option(APPROVE, confirm_label)),
                cancel_label.map(|label| option(DENY, label)),
            ];
            Question::Confirm {
                options: options.into_iter().flatten().collect(),
                allow_edit: false,
            }
        }
        Some(CuePayload::Form(fields)) => Question::Form {
            schema: schema(&fields),
        },
    }
}

fn choice(offer: &CueOffer) -> Choice {
    Choice {
        value: offer.label.clone(),
        label: offer.label.clone(),
        description: None,
    }
}

/// Labels are the property names, because the agent receives the answers by label. Duplicates get a number.
fn schema(fields: &[CueField]) -> Value {
    let mut properties = Map::new();
    for field in fields {
        let mut name = field.label.clone();
        let mut again = 2;
        while properties.contains_key(&name) {
            name = format!("{} ({again})", field.label);
            again += 1;
        }
        properties.insert(name, property(field));
    }
    json!({"type": "object", "properties": properties, "additionalProperties": false})
}

fn property(field: &CueField) -> Value {
    let labels: Vec<&str> = field.offers.iter().map(|offer| offer.label.as_str()).collect();
    match (labels.is_empty(), field.many) {
        (true, _) if field.is_long => json!({"type": "string", "contentMediaType": "text/plain"}),
        (true, _) => json!({"type": "string"}),
        (false, false) => json!({"type": "string", "enum": labels}),
        (false, true) => json!({"type": "array", "items": {"enum": labels}, "uniqueItems": true}),
    }
}

/// The last part of the path.
pub fn project(project_dir: &str) -> Option<String> {
    let last = project_dir
        .trim_end_matches(['/', '\\'])
        .rsplit(['/', '\\'])
        .next()
        .unwrap_or_default();
    (!last.is_empty()).then(|| last.chars().take(120).collect())
}
