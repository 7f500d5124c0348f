//! The payload of a cue: a choice, a confirm or a form. Any other payload is shown as JSON and answered with free text.

use serde_json::{Map, Value};

/// A payload with more options is shown as JSON.
const MAX_OFFERS: usize = 100;
const MAX_FIELDS: usize = 50;
const MAX_LABEL_CHARS: usize = 500;

#[derive(Debug, Clone, PartialEq)]
pub enum CuePayload {
    Choice {
        offers: Vec<CueOffer>,
        many: bool,
    },
    Confirm(Confirm),
    Form(Vec<CueField>),
    /// Not one of the others, for this reason.
    Unknown {
        reason: String,
    },
}

/// An option; the agent gets the label back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CueOffer {
    pub label: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Confirm {
    pub text: Option<String>,
    pub confirm_label: String,
    /// `None` if the agent sent an empty label: then there is only one button.
    pub cancel_label: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CueField {
    pub label: String,
    pub offers: Vec<CueOffer>,
    pub many: bool,
    pub is_long: bool,
}

impl CuePayload {
    pub fn read(payload: &Map<String, Value>) -> Self {
        let read = match payload.get("type").and_then(Value::as_str) {
            Some("choice") => choice(payload),
            Some("confirm") => confirm(payload),
            Some("form") => form(payload),
            Some(other) => Err(format!("type {:?} is not choice, confirm or form", cut(other))),
            None => Err("type is missing; use choice, confirm or form".to_owned()),
        };
        read.unwrap_or_else(|reason| Self::Unknown { reason })
    }
}

fn choice(payload: &Map<String, Value>) -> Result<CuePayload, String> {
    let offers = offers(payload.get("options"), "options")?;
    if offers.is_empty() {
        return Err("options is empty; offer at least one".to_owned());
    }
    Ok(CuePayload::Choice {
        offers,
        many: flag(payload, "allow_multiple", "allow_multiple")?,
    })
}

fn confirm(payload: &Map<String, Value>) -> Result<CuePayload, String> {
    let confirm_label = text(payload, "confirm_label", "confirm_label")?.filter(|label| !label.trim().is_empty());
    let cancel_label = text(payload, "cancel_label", "cancel_label")?;
    Ok(CuePayload::Confirm(Confirm {
        text: text(payload, "text", "text")?.filter(|text| !text.trim().is_empty()),
        confirm_label: confirm_label.unwrap_or_else(|| "Confirm".to_owned()),
        cancel_label: match cancel_label {
            None => Some("Cancel".to_owned()),
            Some(label) => Some(label).filter(|label| !label.trim().is_empty()),
        },
    }))
}

fn form(payload: &Map<String, Value>) -> Result<CuePayload, String> {
    let Some(Value::Array(entries)) = payload.get("fields") else {
        return Err("fields must be a list".to_owned());
    };
    if entries.is_empty() || entries.len() > MAX_FIELDS {
        return Err(format!("fields must have 1 to {MAX_FIELDS} entries"));
    }
    entries
        .iter()
        .enumerate()
        .map(|(index, entry)| field(index, entry))
        .collect::<Result<_, _>>()
        .map(CuePayload::Form)
}

fn field(index: usize, entry: &Value) -> Result<CueField, String> {
    let place = |key: &str| format!("fields[{index}].{key}");
    let Value::Object(entry) = entry else {
        return Err(format!("fields[{index}] must be an object"));
    };
    let label = text(entry, "label", &place("label"))?.filter(|label| !label.trim().is_empty());
    Ok(CueField {
        label: label.unwrap_or_else(|| format!("Field {}", index + 1)),
        offers: offers(entry.get("options"), &place("options"))?,
        many: flag(entry, "allow_multiple", &place("allow_multiple"))?,
        is_long: matches!(
            text(entry, "kind", &place("kind"))?.as_deref(),
            Some("textarea" | "multiline")
        ),
    })
}

fn offers(options: Option<&Value>, place: &str) -> Result<Vec<CueOffer>, String> {
    let entries = match options {
        None | Some(Value::Null) => return Ok(Vec::new()),
        Some(Value::Array(entries)) => entries,
        Some(_) => return Err(format!("{place} must be a list")),
    };
    if entries.len() > MAX_OFFERS {
        return Err(format!("{place} has more than {MAX_OFFERS} entries"));
    }
    let mut offers: Vec<CueOffer> = Vec::new();
    for (index, entry) in entries.iter().enumerate() {
        let label = label(entry).ok_or_else(|| format!("{place}[{index}] must be a text or an object with a label"))?;
        if label.chars().count() > MAX_LABEL_CHARS {
            return Err(format!("{place}[{index}] is longer than {MAX_LABEL_CHARS} characters"));
        }
        // Equal labels would give the same answer, so duplicates are dropped.
        if !offers.iter().any(|offer| offer.label == label) {
            offers.push(CueOffer { label });
        }
    }
    Ok(offers)
}

fn label(entry: &Value) -> Option<String> {
    let text = match entry {
        Value::String(text) => text.clone(),
        Value::Number(number) => number.to_string(),
        Value::Object(entry) => ["label", "id"]
            .iter()
            .find_map(|key| entry.get(*key)?.as_str())?
            .to_owned(),
        Value::Null | Value::Bool(_) | Value::Array(_) => return None,
    };
    (!text.trim().is_empty()).then_some(text)
}

fn text(object: &Map<String, Value>, key: &str, place: &str) -> Result<Option<String>, String> {
    match object.get(key) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) if text.chars().count() <= MAX_LABEL_CHARS => Ok(Some(text.clone())),
        Some(Value::String(_)) => Err(format!("{place} is longer than {MAX_LABEL_CHARS} characters")),
        Some(_) => Err(format!("{place} must be a text")),
    }
}

fn flag(object: &Map<String, Value>, key: &str, place: &str) -> Result<bool, String> {
    match object.get(key) {
        None | Some(Value::Null) => Ok(false),
        Some(Value::Bool(flag)) => Ok(*flag),
        Some(_) => Err(format!("{place} must be true or false")),
    }
}

fn cut(text: &str) -> String {
    text.chars().take(40).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read(payload: Value) -> CuePayload {
        CuePayload::read(payload.as_object().expect("an object"))
    }

    fn offer(label: &str) -> CueOffer {
        CueOffer {
            label: label.to_owned(),
        }
    }

    #[test]
    fn a_choice_has_unique_labels() {
        let options = json!(["Go on", {"id": "stop", "label": "Stop"}, {"id": "later"}, "Go on", 3]);
        let offers = ["Go on", "Stop", "later", "3"].map(offer).to_vec();
        assert_eq!(
            read(json!({"type": "choice", "options": options})),
            CuePayload::Choice { offers, many: false }
        );
        let many = read(json!({"type": "choice", "options": ["a"], "allow_multiple": true}));
        assert_eq!(
            many,
            CuePayload::Choice {
                offers: vec![offer("a")],
                many: true
            }
        );
    }

    #[test]
    fn a_confirm_has_two_buttons_unless_the_cancel_label_is_empty() {
        let plain = Confirm {
            text: None,
            confirm_label: "Confirm".to_owned(),
            cancel_label: Some("Cancel".to_owned()),
        };
        assert_eq!(read(json!({"type": "confirm"})), CuePayload::Confirm(plain));
        let own = json!({"type": "confirm", "text": "Ship?", "confirm_label": "Ship it", "cancel_label": ""});
        let wanted = Confirm {
            text: Some("Ship?".to_owned()),
            confirm_label: "Ship it".to_owned(),
            cancel_label: None,
        };
        assert_eq!(read(own), CuePayload::Confirm(wanted));
    }

    #[test]
    fn a_form_has_text_and_choice_fields() {
        let fields = json!([{"label": "Name", "kind": "text"}, {"options": ["a", "b"], "allow_multiple": true}, {"kind": "textarea"}]);
        let CuePayload::Form(fields) = read(json!({"type": "form", "fields": fields})) else {
            panic!("a form")
        };
        assert_eq!(
            fields[0],
            CueField {
                label: "Name".to_owned(),
                offers: vec![],
                many: false,
                is_long: false
            }
        );
        let picked = CueField {
            label: "Field 2".to_owned(),
            offers: vec![offer("a"), offer("b")],
            many: true,
            is_long: false,
        };
        assert_eq!(fields[1], picked);
        assert!(fields[2].is_long);
    }

    #[test]
    fn an_unreadable_payload_has_a_reason() {
        let cases = [
            (json!({}), "type is missing"),
            (json!({"type": "poll"}), "poll"),
            (json!({"type": 1}), "type is missing"),
            (json!({"type": "choice"}), "options is empty"),
            (json!({"type": "choice", "options": "a"}), "options must be a list"),
            (json!({"type": "choice", "options": ["a", []]}), "options[1]"),
            (json!({"type": "choice", "options": vec!["x"; 101]}), "more than 100"),
            (
                json!({"type": "choice", "options": ["a"], "allow_multiple": "yes"}),
                "allow_multiple",
            ),
            (json!({"type": "confirm", "text": []}), "text must be a text"),
            (json!({"type": "form"}), "fields must be a list"),
            (json!({"type": "form", "fields": []}), "1 to 50"),
            (json!({"type": "form", "fields": [1]}), "fields[0]"),
            (
                json!({"type": "form", "fields": [{"options": [null]}]}),
                "fields[0].options[0]",
            ),
        ];
        for (payload, expected) in cases {
            let CuePayload::Unknown { reason } = read(payload.clone()) else {
                panic!("{payload}")
            };
            assert!(reason.contains(expected), "{reason}");
        }
    }
}
