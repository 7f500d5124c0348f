//! The question of an ask, the checks that refuse an unanswerable one at submit time, and the check of an answer.

use countersign_protocol::a2h::limits::{MAX_OPTION_CHARS, MAX_OPTIONS};
use countersign_protocol::a2h::{APPROVE, Choice, DENY};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::rejection::Rejection;
use crate::schema;
use crate::vocabulary::Action;

const MAX_TYPED_CHARS: usize = 20_000;
/// For a text that may also be empty.
const MAX_TEXT_BYTES: usize = 1024 * 1024;

/// Shown by every surface when an answer is ambiguous: it has both a choice and free text.
pub const PICKED_AND_WROTE: &str =
    "you picked a choice and wrote an answer of your own: choose one of the two, and empty the other";
pub const FILLED_IN_AND_WROTE: &str =
    "you filled in the form and wrote an answer of your own: choose one of the two, and empty the other";

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Ask {
    pub question: Question,
    /// Stored only when false, like `may_decline`.
    #[serde(default = "granted", skip_serializing_if = "is_granted")]
    pub may_respond: bool,
    #[serde(default = "granted", skip_serializing_if = "is_granted")]
    pub may_decline: bool,
    /// Free text is accepted besides the options, and files may be attached.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub open_ended: bool,
    /// For a text question: an empty or a long text is accepted too.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub may_be_empty: bool,
    /// Declared by the asker; applied by the hub only at expiry.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub default_on_expire: Option<Value>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Question {
    Confirm {
        options: Vec<Choice>,
        allow_edit: bool,
    },
    /// With `many`, one or more options; then free text is not accepted, and `allow_edit` has no effect.
    Select {
        options: Vec<Choice>,
        allow_edit: bool,
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        many: bool,
    },
    Text,
    Form {
        schema: Value,
    },
}

fn granted() -> bool {
    true
}

fn is_granted(permission: &bool) -> bool {
    *permission
}

/// The default choices of a confirm.
pub fn approve_or_deny() -> Vec<Choice> {
    [(APPROVE, Action::Approve.label()), (DENY, Action::Deny.label())]
        .map(|(value, label)| Choice {
            value: value.to_owned(),
            label: label.to_owned(),
            description: None,
        })
        .into()
}

/// The indexes of the yes and the no option, recognized only by the protocol's own values. Guessing from labels or
/// order could turn a rejection into a yes.
pub fn yes_and_no<V: AsRef<str>>(values: &[V]) -> (Option<usize>, Option<usize>) {
    let index = |word: &str| values.iter().position(|value| value.as_ref() == word);
    (index(APPROVE), index(DENY))
}

impl Ask {
    /// Validates the ask; a rejection names the field as a path in `request`.
    pub fn check(&self) -> Result<(), Rejection> {
        match &self.question {
            Question::Confirm { options, .. } | Question::Select { options, .. } => check_options(options)?,
            Question::Text => {}
            Question::Form { schema } => schema::check(schema)?,
        }
        match &self.default_on_expire {
            Some(default) => self.check_default(default),
            None => Ok(()),
        }
    }

    /// A default must be one of the offered answers even if free text is allowed, because no person reviews it.
    fn check_default(&self, default: &Value) -> Result<(), Rejection> {
        let offered = match &self.question {
            Question::Confirm { options, .. } => Question::Confirm {
                options: options.clone(),
                allow_edit: false,
            },
            Question::Select { options, many, .. } => Question::Select {
                options: options.clone(),
                allow_edit: false,
                many: *many,
            },
            Question::Text => Question::Text,
            Question::Form { schema } => Question::Form { schema: schema.clone() },
        };
        check(&offered, default).map(drop).map_err(|rejection| match rejection {
            Rejection::InvalidField { message, .. } => Rejection::field("request.default_on_expire", message),
            other => other,
        })
    }
}

/// The protocol has refused an envelope without options.
fn check_options(options: &[Choice]) -> Result<(), Rejection> {
    if options.len() > MAX_OPTIONS {
        return Err(Rejection::field(
            "request.options",
            format!("offer at most {MAX_OPTIONS} options"),
        ));
    }
    for (index, option) in options.iter().enumerate() {
        let field = format!("request.options[{index}].value");
        if option.value.is_empty() {
            return Err(Rejection::field(field, "give every option a value that is not empty"));
        }
        if option.value.chars().count() > MAX_OPTION_CHARS || option.label.chars().count() > MAX_OPTION_CHARS {
            return Err(Rejection::field(
                field,
                format!("keep values and labels within {MAX_OPTION_CHARS} characters"),
            ));
        }
        if options[..index].iter().any(|earlier| earlier.value == option.value) {
            return Err(Rejection::field(
                field,
                "two options have this value; give each its own",
            ));
        }
    }
    Ok(())
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CheckedAnswer {
    /// The answer is free text, not an offered value.
    pub edited: bool,
}

/// Like [`check`], with the rules for free text: an open-ended ask also accepts any text that is not blank, or a blank
/// text if files come with it; an ask that may be empty accepts any text.
pub fn check_ask(ask: &Ask, value: &Value, has_files: bool) -> Result<CheckedAnswer, Rejection> {
    if let (Question::Text, Value::String(text), true) = (&ask.question, value, ask.may_be_empty) {
        return check_bytes(text).map(|()| AS_ASKED);
    }
    let as_asked = check(&ask.question, value);
    match (value, as_asked) {
        (Value::String(text), as_asked) if ask.open_ended && text.trim().is_empty() => match as_asked {
            // A blank value may be one of the options.
            Ok(checked) if !matches!(ask.question, Question::Text) => Ok(checked),
            Ok(_) | Err(_) if has_files => Ok(AS_ASKED),
            Ok(_) | Err(_) => Err(refuse("write an answer; it is blank")),
        },
        (Value::String(text), Err(_)) if ask.open_ended => check_length(text).map(|()| CheckedAnswer { edited: true }),
        (_, as_asked) => as_asked,
    }
}

pub fn check(question: &Question, value: &Value) -> Result<CheckedAnswer, Rejection> {
    match question {
        Question::Select {
            options, many: true, ..
        } => check_many(options, value),
        Question::Confirm { options, allow_edit }
        | Question::Select {
            options,
            allow_edit,
            many: false,
        } => check_one(options, *allow_edit, value),
        Question::Text => check_text(value),
        Question::Form { schema } => schema::check_answer(schema, value).map(|()| AS_ASKED),
    }
}

const AS_ASKED: CheckedAnswer = CheckedAnswer { edited: false };

fn refuse(message: impl Into<String>) -> Rejection {
    Rejection::field("value", message)
}

fn check_one(options: &[Choice], allow_edit: bool, value: &Value) -> Result<CheckedAnswer, Rejection> {
    let Value::String(text) = value else {
        return Err(refuse("answer with a string, the value of one of the options"));
    };
    if is_offered(options, value) {
        return Ok(AS_ASKED);
    }
    if !allow_edit {
        return Err(refuse(format!("choose one of: {}", offered(options))));
    }
    check_length(text).map(|()| CheckedAnswer { edited: true })
}

fn check_many(options: &[Choice], value: &Value) -> Result<CheckedAnswer, Rejection> {
    let Value::Array(picked) = value else {
        return Err(refuse("answer with a list of values of the options"));
    };
    if picked.is_empty() || !picked.iter().all(|pick| is_offered(options, pick)) {
        return Err(refuse(format!("choose one or more of: {}", offered(options))));
    }
    if picked
        .iter()
        .enumerate()
        .any(|(index, pick)| picked[..index].contains(pick))
    {
        return Err(refuse("choose every option at most once"));
    }
    Ok(AS_ASKED)
}

fn check_text(value: &Value) -> Result<CheckedAnswer, Rejection> {
    match value {
        Value::String(text) => check_length(text).map(|()| AS_ASKED),
        _ => Err(refuse("answer with a text")),
    }
}

fn is_offered(options: &[Choice], value: &Value) -> bool {
    options.iter().any(|option| value == option.value.as_str())
}

fn offered(options: &[Choice]) -> String {
    options
        .iter()
        .map(|option| option.value.as_str())
        .collect::<Vec<_>>()
        .join(", ")
}

fn check_length(text: &str) -> Result<(), Rejection> {
    if text.is_empty() || text.chars().count() > MAX_TYPED_CHARS {
        return Err(refuse(format!("type between 1 and {MAX_TYPED_CHARS} characters")));
    }
    Ok(())
}

fn check_bytes(text: &str) -> Result<(), Rejection> {
    if text.len() > MAX_TEXT_BYTES {
        return Err(refuse(format!("keep it within {MAX_TEXT_BYTES} bytes")));
    }
    Ok(())
}

#[cfg(test)]
mod tests;
