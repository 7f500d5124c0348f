//! An inbox item as text, for terminals.

mod cue;
mod outcome;
mod run;
mod steps;
#[cfg(any(test, feature = "test-data"))]
pub mod test_data;

use std::ops::{Deref, DerefMut};
use std::time::Duration;

use countersign_core::form::only_text_field;
use countersign_protocol::api::inbox::{self as api, ItemQuestion, SentFile};
use serde::Deserialize;
use serde_json::Value;

use crate::screen::{actor_label, duration_label};

pub use outcome::outcome_remarks;
pub use steps::open_steps;

/// An item as the hub sends it, with its texts for terminals.
#[derive(Debug, Deserialize)]
#[serde(transparent)]
pub struct ClientItem(api::Item);

impl Deref for ClientItem {
    type Target = api::Item;

    fn deref(&self) -> &api::Item {
        &self.0
    }
}

impl DerefMut for ClientItem {
    fn deref_mut(&mut self) -> &mut api::Item {
        &mut self.0
    }
}

impl ClientItem {
    /// The item's kind, as the hub names it: the question's kind for an ask, else the verb.
    pub fn kind(&self) -> &str {
        match &self.question {
            Some(ItemQuestion::Confirm(_)) => "confirm",
            Some(ItemQuestion::Select(choices)) if choices.many => "many",
            Some(ItemQuestion::Select(_)) => "select",
            Some(ItemQuestion::Text) => "text",
            Some(ItemQuestion::Form { schema }) if only_text_field(schema).is_some() => "text",
            Some(ItemQuestion::Form { .. }) => "form",
            Some(ItemQuestion::Unknown) | None => &self.verb,
        }
    }

    /// The person whose decision is on hold: `ann is answering`.
    pub fn held_text(&self) -> Option<String> {
        let by = &self.held.as_ref()?.by;
        Some(format!("{} is answering", actor_label(by)))
    }

    /// What the expiry does to an unanswered item; `None` without an expiry. Only a declared default ever answers
    /// automatically.
    pub fn expiry_text(&self, now: jiff::Timestamp) -> Option<String> {
        let expires_at = self.expires_at.as_ref()?;
        let when = match expires_at.remaining(now) {
            Duration::ZERO => "any moment".to_owned(),
            remaining => format!("in {}", duration_label(remaining)),
        };
        Some(match &self.default_on_expire {
            Some(Value::String(value)) if !self.sensitive => format!("expires {when}, then answers \"{value}\""),
            Some(Value::Null) | None => format!("expires {when}, unanswered"),
            Some(_) => format!("expires {when}, then answers its default"),
        })
    }

    /// The expiry for a column of a table.
    pub fn expiry_cell(&self, now: jiff::Timestamp) -> String {
        let Some(expires_at) = &self.expires_at else {
            return "–".to_owned();
        };
        let when = match expires_at.remaining(now) {
            Duration::ZERO => "now".to_owned(),
            remaining => duration_label(remaining),
        };
        match &self.default_on_expire {
            Some(Value::String(value)) if !self.sensitive => format!("{when}: {value}"),
            Some(Value::Null) | None => when,
            Some(_) => format!("{when}: default"),
        }
    }
}

/// `notes.txt (12 KB, text/plain)`
pub fn file_label(file: &SentFile) -> String {
    format!("{} ({}, {})", file.name, size_label(file.size), file.media_type)
}

fn size_label(bytes: u64) -> String {
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

    pub fn item(extra: Value) -> ClientItem {
        let mut item = json!({
            "id": "msg_1", "type": "ask", "status": "open", "title": "t", "priority": "normal",
            "agent": {"id": "bot", "run_id": "r", "runtime": "cli"}, "created_at": "2026-06-04T15:00:00.000Z",
        });
        item.as_object_mut().unwrap().extend(extra.as_object().unwrap().clone());
        serde_json::from_value(item).unwrap()
    }

    #[test]
    fn expiry_text_names_the_default() {
        let now = "2026-06-04T15:00:00Z".parse().unwrap();
        let text = |extra| {
            let item = item(extra);
            (item.expiry_text(now).unwrap_or_default(), item.expiry_cell(now))
        };
        let shown = |text: &str, cell: &str| (text.to_owned(), cell.to_owned());
        let at = "2026-06-04T15:05:00.000Z";
        assert_eq!(text(json!({"expires_at": null})), shown("", "–"));
        assert_eq!(
            text(json!({"expires_at": at, "default_on_expire": null})),
            shown("expires in 5m, unanswered", "5m")
        );
        let hold = json!({"expires_at": at, "default_on_expire": "hold"});
        assert_eq!(text(hold), shown("expires in 5m, then answers \"hold\"", "5m: hold"));
        let secret = json!({"expires_at": at, "default_on_expire": "hold", "sensitive": true});
        assert_eq!(
            text(secret),
            shown("expires in 5m, then answers its default", "5m: default")
        );
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
        let one = json!({"properties": {"answer": {"type": "string"}}});
        assert_eq!(kind(json!({"kind": "form", "schema": one})), "text");
    }

    #[test]
    fn an_unknown_question_does_not_hide_the_item() {
        let item = item(json!({"question": {"kind": "drawing", "canvas": [1, 2]}, "context": [{"kind": "sound"}]}));
        assert!(matches!(item.question, Some(ItemQuestion::Unknown)));
        assert_eq!(item.kind(), "ask");
    }

    #[test]
    fn sizes_are_told_in_short() {
        let text = |size| {
            file_label(&SentFile {
                name: "a".to_owned(),
                media_type: "b/c".to_owned(),
                size,
                sha256: String::new(),
            })
        };
        assert_eq!(text(999), "a (999 bytes, b/c)");
        assert_eq!(text(1_001), "a (2 KB, b/c)");
        assert_eq!(text(8_388_608), "a (8.3 MB, b/c)");
    }
}
