//! An inbox item as the hub sends it: only the fields that this program shows or acts on.

mod cue;
mod run;
pub mod terminal;
#[cfg(any(test, feature = "test-data"))]
pub mod test_data;

use std::collections::BTreeMap;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::screen::{HubTime, duration_words};

/// A short answer text is cut after this many characters.
const MAX_SHORT_CHARS: usize = 200;

#[derive(Debug, Deserialize)]
pub struct Item {
    pub id: String,
    #[serde(rename = "type")]
    pub verb: String,
    pub status: String,
    pub title: String,
    pub body: Option<String>,
    pub agent: ItemAgent,
    pub priority: String,
    #[serde(default)]
    pub tags: Vec<String>,
    #[serde(default)]
    pub context: Vec<ItemPart>,
    #[serde(default)]
    pub sensitive: bool,
    pub question: Option<ItemQuestion>,
    pub action: Option<TaskDetails>,
    #[serde(default)]
    pub resolvers: Vec<String>,
    #[serde(default)]
    pub can_answer: bool,
    /// Free text is accepted besides the offered options, and files may be attached.
    #[serde(default)]
    pub open_ended: bool,
    /// For a text question: an empty answer is allowed.
    #[serde(default)]
    pub may_be_empty: bool,
    #[serde(default)]
    pub permissions: ItemPermissions,
    pub created_at: HubTime,
    pub expires_at: Option<HubTime>,
    pub default_on_expire: Option<Value>,
    pub source: Option<ItemSource>,
    /// For agents in terminals only; lists omit it.
    pub presence: Option<TerminalPresence>,
    pub resolution: Option<ItemResolution>,
    pub delivery: Option<ItemDelivery>,
}

#[derive(Debug, Deserialize)]
pub struct ItemAgent {
    pub id: String,
    pub run_id: String,
    pub runtime: String,
    pub project: Option<String>,
    #[serde(default)]
    pub labels: BTreeMap<String, String>,
}

#[derive(Debug, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum ItemPart {
    Text {
        text: String,
    },
    Data {
        data: Value,
    },
    File {
        file: FileLink,
    },
    /// A kind from a newer hub, unknown to this version.
    #[serde(other)]
    Unknown,
}

#[derive(Debug, Deserialize)]
pub struct FileLink {
    pub uri: String,
    pub name: Option<String>,
    pub mime_type: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum ItemQuestion {
    Confirm(Choices),
    Select(Choices),
    Text,
    Form {
        schema: Value,
    },
    /// A kind from a newer hub, unknown to this version.
    #[serde(other)]
    Unknown,
}

#[derive(Debug, Deserialize)]
pub struct Choices {
    pub options: Vec<ItemChoice>,
    #[serde(default)]
    pub allow_edit: bool,
    /// For a select: several options may be picked.
    #[serde(default)]
    pub many: bool,
}

#[derive(Debug, Deserialize)]
pub struct ItemChoice {
    pub value: String,
    pub label: String,
    pub description: Option<String>,
}

#[derive(Debug, Deserialize)]
pub struct TaskDetails {
    pub instructions: String,
    pub checklist: Option<Vec<ChecklistStep>>,
    pub verification: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ChecklistStep {
    pub text: String,
    #[serde(default)]
    pub done: bool,
}

#[derive(Debug, Deserialize)]
pub struct ItemSource {
    pub door: String,
    /// Only some doors have a family and a version.
    #[serde(default)]
    pub family: String,
    #[serde(default)]
    pub version: String,
    /// The next four fields come from terminals only.
    pub runtime: Option<String>,
    pub project_dir: Option<String>,
    pub terminal: Option<String>,
    /// The earlier messages that this one superseded, separated by spaces.
    pub supersedes: Option<String>,
    /// The last two fields come from runs only.
    #[serde(rename = "agentName")]
    pub agent_name: Option<String>,
    pub strategy: Option<String>,
}

/// The actions the asker allows besides answering; a hub may omit them.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(default)]
pub struct ItemPermissions {
    pub respond: bool,
    /// Whether the message may be declined.
    pub ignore: bool,
}

impl Default for ItemPermissions {
    fn default() -> Self {
        Self {
            respond: true,
            ignore: true,
        }
    }
}

#[derive(Debug, Clone, Deserialize)]
pub struct TerminalPresence {
    /// `waiting`, `gone` or `paused`; none once the message is decided.
    pub state: Option<String>,
    pub since: Option<HubTime>,
}

#[derive(Debug, Deserialize)]
pub struct ItemResolution {
    pub resolution_id: String,
    pub resolution: String,
    #[serde(default)]
    pub defaulted: bool,
    pub value: Option<Value>,
    #[serde(default)]
    pub edited: bool,
    pub actor: String,
    pub resolved_at: HubTime,
    pub comment: Option<String>,
    pub checklist: Option<Vec<ChecklistStep>>,
    #[serde(default)]
    pub files: Vec<SentFile>,
}

#[derive(Debug, Deserialize)]
pub struct SentFile {
    pub name: String,
    pub media_type: String,
    pub size: u64,
}

#[derive(Debug, Deserialize)]
pub struct ItemDelivery {
    pub state: String,
    pub attempts: u64,
    pub next_attempt_at: Option<HubTime>,
    pub delivered_at: Option<HubTime>,
    pub last_error: Option<String>,
}

impl Item {
    /// The item's kind: the question's kind for an ask, else the verb.
    pub fn kind(&self) -> &str {
        match &self.question {
            Some(ItemQuestion::Confirm(_)) => "confirm",
            Some(ItemQuestion::Select(choices)) if choices.many => "many",
            Some(ItemQuestion::Select(_)) => "select",
            Some(ItemQuestion::Text) => "text",
            Some(ItemQuestion::Form { .. }) => "form",
            Some(ItemQuestion::Unknown) | None => &self.verb,
        }
    }

    /// The effect of the expiry on an unanswered item. Only a declared default ever answers automatically.
    pub fn expiry_words(&self, now: jiff::Timestamp) -> String {
        let Some(expires_at) = &self.expires_at else {
            return "waits until answered".to_owned();
        };
        let when = match expires_at.remaining(now) {
            Duration::ZERO => "any moment".to_owned(),
            remaining => format!("in {}", duration_words(remaining)),
        };
        match &self.default_on_expire {
            Some(Value::String(value)) if !self.sensitive => format!("{when}: will answer \"{value}\" by itself"),
            Some(Value::Null) | None => format!("{when}: ends without an answer"),
            Some(_) => format!("{when}: will answer with its default by itself"),
        }
    }
}

impl ItemResolution {
    /// Names only options and texts: a form's fields may be long or sensitive.
    fn words(&self) -> String {
        self.words_with(&self.value_words())
    }

    /// Like `words`, with a long text cut short.
    fn short_words(&self) -> String {
        let value = self.value_words();
        match value.char_indices().nth(MAX_SHORT_CHARS) {
            Some((end, _)) => self.words_with(&format!("{}… ({})", &value[..end], size_words(value.len() as u64))),
            None => self.words_with(&value),
        }
    }

    fn value_words(&self) -> String {
        match &self.value {
            Some(Value::String(value)) => value.clone(),
            Some(Value::Array(picked)) => picked.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(", "),
            Some(_) | None => String::new(),
        }
    }

    fn words_with(&self, value: &str) -> String {
        let value = if value.is_empty() {
            String::new()
        } else {
            format!(" {value}")
        };
        let files = match self.files.len() {
            0 => String::new(),
            1 => " with a file".to_owned(),
            count => format!(" with {count} files"),
        };
        format!("{}{value}{files} by {}", self.resolution, self.actor)
    }
}

impl SentFile {
    /// `notes.txt (12 KB, text/plain)`
    pub fn words(&self) -> String {
        format!("{} ({}, {})", self.name, size_words(self.size), self.media_type)
    }
}

fn size_words(bytes: u64) -> String {
    match bytes {
        0..1_000 => format!("{bytes} bytes"),
        1_000..1_000_000 => format!("{} KB", bytes.div_ceil(1_000)),
        _ => format!("{}.{} MB", bytes / 1_000_000, bytes % 1_000_000 / 100_000),
    }
}

#[cfg(test)]
pub mod tests {
    use serde_json::json;

    use super::*;

    pub fn item(extra: Value) -> Item {
        let mut item = json!({
            "id": "msg_1", "type": "ask", "status": "open", "title": "t", "priority": "normal",
            "agent": {"id": "bot", "run_id": "r", "runtime": "cli"}, "created_at": "2026-06-04T15:00:00.000Z",
        });
        item.as_object_mut().unwrap().extend(extra.as_object().unwrap().clone());
        serde_json::from_value(item).unwrap()
    }

    #[test]
    fn expiry_is_told_in_words() {
        let now = "2026-06-04T15:00:00Z".parse().unwrap();
        let words = |extra| item(extra).expiry_words(now);
        let at = "2026-06-04T15:05:00.000Z";
        assert_eq!(words(json!({"expires_at": null})), "waits until answered");
        assert_eq!(
            words(json!({"expires_at": at, "default_on_expire": null})),
            "in 5m: ends without an answer"
        );
        let hold = json!({"expires_at": at, "default_on_expire": "hold"});
        assert_eq!(words(hold), "in 5m: will answer \"hold\" by itself");
        let secret = json!({"expires_at": at, "default_on_expire": "hold", "sensitive": true});
        assert_eq!(words(secret), "in 5m: will answer with its default by itself");
    }

    #[test]
    fn every_question_is_named_by_its_kind() {
        let kind = |question| item(json!({ "question": question })).kind().to_owned();
        let options = json!([{"value": "a", "label": "A"}]);
        assert_eq!(
            kind(json!({"kind": "confirm", "options": options, "allow_edit": false})),
            "confirm"
        );
        assert_eq!(
            kind(json!({"kind": "select", "options": options, "allow_edit": false})),
            "select"
        );
        assert_eq!(
            kind(json!({"kind": "select", "options": options, "allow_edit": false, "many": true})),
            "many"
        );
        assert_eq!(kind(json!({"kind": "text"})), "text");
        assert_eq!(kind(json!({"kind": "form", "schema": {}})), "form");
    }

    #[test]
    fn an_unknown_question_does_not_hide_the_item() {
        let item = item(json!({"question": {"kind": "drawing", "canvas": [1, 2]}, "context": [{"kind": "sound"}]}));
        assert!(matches!(item.question, Some(ItemQuestion::Unknown)));
        assert_eq!(item.kind(), "ask");
    }

    #[test]
    fn sizes_are_told_in_short() {
        let words = |size| {
            SentFile {
                name: "a".to_owned(),
                media_type: "b/c".to_owned(),
                size,
            }
            .words()
        };
        assert_eq!(words(999), "a (999 bytes, b/c)");
        assert_eq!(words(1_001), "a (2 KB, b/c)");
        assert_eq!(words(8_388_608), "a (8.3 MB, b/c)");
    }
}
