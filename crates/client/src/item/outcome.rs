//! The outcome of an item in the words of the vocabulary, which pages use as well.

use countersign_core::Outcome;
use countersign_core::vocabulary::{Ending, Tone};
use countersign_protocol::api::inbox::{ItemQuestion, ItemResolution};
use serde_json::Value;

use super::cue::SUPERSEDED;
use super::{ClientItem, size_label};
use crate::screen::actor_label;

/// A short answer text is cut after this many characters.
const MAX_SHORT_CHARS: usize = 200;

impl ClientItem {
    /// The decision and its actor: `approved by owner`, `answered Blue by ann`.
    pub fn outcome_text(&self) -> Option<String> {
        self.outcome(str::to_owned)
    }

    /// Like `outcome_text`, with a long answer cut short.
    pub fn short_outcome_text(&self) -> Option<String> {
        self.outcome(cut_short)
    }

    fn outcome(&self, shown: impl FnOnce(&str) -> String) -> Option<String> {
        let resolution = self.resolution.as_ref()?;
        if let Some(id) = self.superseded_by() {
            return Some(format!("{SUPERSEDED}{id}"));
        }
        let (word, says_value) = self.ending_word(resolution);
        let value = shown(&value_text(resolution));
        let value = match (value.is_empty() || says_value, resolution.defaulted) {
            (true, _) => String::new(),
            (false, false) => format!(" {value}"),
            (false, true) => format!(", answered {value}"),
        };
        let files = match resolution.files.len() {
            0 => String::new(),
            1 => " with a file".to_owned(),
            count => format!(" with {count} files"),
        };
        Some(format!("{word}{value}{files} by {}", actor_label(&resolution.actor)))
    }

    /// The word for the ending, and whether it says the value already. A resolution that this version does not know is
    /// its own word.
    fn ending_word(&self, resolution: &ItemResolution) -> (String, bool) {
        let Some(ending) = self.ending(resolution) else {
            return (resolution.resolution.clone(), false);
        };
        let says_value = matches!(ending.tone, Tone::Good | Tone::Bad);
        (ending.label.to_lowercase(), says_value)
    }

    fn ending(&self, resolution: &ItemResolution) -> Option<Ending> {
        let outcome = resolution.resolution.parse::<Outcome>().ok()?;
        let is_choice = matches!(self.question, Some(ItemQuestion::Confirm(_))) && !resolution.edited;
        let value = resolution.value.as_ref().and_then(Value::as_str);
        Some(Ending::of(outcome, value.filter(|_| is_choice)))
    }

    /// The tone of the outcome; quiet without one, and for a resolution that this version does not know.
    pub fn ending_tone(&self) -> Tone {
        let ending = self.resolution.as_ref().and_then(|resolution| self.ending(resolution));
        ending.map_or(Tone::Quiet, |ending| ending.tone)
    }
}

/// Only options and texts: a form's fields may be long or sensitive.
fn value_text(resolution: &ItemResolution) -> String {
    match &resolution.value {
        Some(Value::String(value)) => value.clone(),
        Some(Value::Array(picked)) => picked.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(", "),
        Some(_) | None => String::new(),
    }
}

fn cut_short(value: &str) -> String {
    match value.char_indices().nth(MAX_SHORT_CHARS) {
        Some((end, _)) => format!("{}… ({})", &value[..end], size_label(value.len() as u64)),
        None => value.to_owned(),
    }
}

/// Remarks on an answer, for the end of its outcome text.
pub fn outcome_remarks(resolution: &ItemResolution) -> String {
    let by_default = resolution.defaulted.then_some(", the default its asker declared");
    let edited = resolution.edited.then_some(", in other words than the options");
    by_default.into_iter().chain(edited).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use crate::item::tests::item;

    fn outcome(question: &Value, resolution: &Value) -> String {
        let mut full =
            json!({"resolution_id": "res_1", "actor": "human:ann", "resolved_at": "2026-06-04T15:00:01.000Z"});
        full.as_object_mut()
            .unwrap()
            .extend(resolution.as_object().unwrap().clone());
        let item = item(json!({"question": question, "resolution": full}));
        item.outcome_text().unwrap()
    }

    #[test]
    fn an_outcome_has_the_words_of_the_vocabulary() {
        let confirm = json!({"kind": "confirm", "options": []});
        let select = json!({"kind": "select", "options": []});
        let answered = |value: &str| json!({"resolution": "answered", "value": value});
        for (question, resolution, text) in [
            (&confirm, answered("approve"), "approved"),
            (&confirm, answered("deny"), "denied"),
            (&confirm, answered("ship"), "answered ship"),
            (&select, answered("approve"), "answered approve"),
            (&confirm, json!({"resolution": "declined"}), "skipped"),
            (&Value::Null, json!({"resolution": "completed"}), "done"),
            (&Value::Null, json!({"resolution": "dismissed"}), "not done"),
            (&select, json!({"resolution": "expired"}), "expired"),
            (&confirm, json!({"resolution": "cancelled"}), "withdrawn"),
            (&confirm, json!({"resolution": "vaporised"}), "vaporised"),
        ] {
            assert_eq!(outcome(question, &resolution), format!("{text} by ann"));
        }
    }

    #[test]
    fn other_words_and_defaults_are_not_a_plain_yes() {
        let confirm = json!({"kind": "confirm", "options": []});
        let edited = json!({"resolution": "answered", "value": "approve", "edited": true});
        assert_eq!(outcome(&confirm, &edited), "answered approve by ann");
        let default = json!({"resolution": "expired", "value": "approve", "defaulted": true});
        assert_eq!(outcome(&confirm, &default), "expired, answered approve by ann");
    }
}
