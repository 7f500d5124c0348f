//! Checks an answer against its question.

use countersign_protocol::a2h::Choice;
use serde_json::Value;

use crate::question::{Ask, Question};
use crate::rejection::Rejection;
use crate::schema;

const MAX_TYPED_CHARS: usize = 20_000;
/// For a text that may also be empty.
const MAX_TEXT_BYTES: usize = 1024 * 1024;

/// Shown by every surface when an answer is ambiguous: it has both a choice and free text.
pub const PICKED_AND_WROTE: &str =
    "you picked a choice and wrote an answer of your own: choose one of the two, and empty the other";
pub const FILLED_IN_AND_WROTE: &str =
    "you filled in the form and wrote an answer of your own: choose one of the two, and empty the other";

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
mod tests {
    use serde_json::json;

    use super::*;
    use crate::question::approve_or_deny;

    fn ask(question: Question) -> Ask {
        Ask {
            question,
            may_respond: true,
            may_decline: true,
            open_ended: false,
            may_be_empty: false,
            default_on_expire: None,
        }
    }

    #[test]
    fn only_offered_values_are_accepted_unless_editing_is_allowed() {
        let strict = Question::Confirm {
            options: approve_or_deny(),
            allow_edit: false,
        };
        assert_eq!(check(&strict, &json!("approve")), Ok(CheckedAnswer { edited: false }));
        assert!(check(&strict, &json!("Approve")).is_err());
        assert!(check(&strict, &json!(true)).is_err());
        let open = Question::Confirm {
            options: approve_or_deny(),
            allow_edit: true,
        };
        assert_eq!(
            check(&open, &json!("only on Monday")),
            Ok(CheckedAnswer { edited: true })
        );
        assert_eq!(check(&open, &json!("deny")), Ok(CheckedAnswer { edited: false }));
        assert!(check(&open, &json!("")).is_err());
    }

    #[test]
    fn a_multiple_choice_takes_each_offered_value_at_most_once() {
        let many = Question::Select {
            options: approve_or_deny(),
            allow_edit: true,
            many: true,
        };
        for picked in [json!(["deny"]), json!(["deny", "approve"])] {
            assert_eq!(check(&many, &picked), Ok(CheckedAnswer { edited: false }));
        }
        for picked in [
            json!([]),
            json!(["deny", "deny"]),
            json!(["on Monday"]),
            json!([["deny"]]),
            json!("deny"),
        ] {
            assert!(check(&many, &picked).is_err(), "{picked}");
        }
    }

    #[test]
    fn an_open_ended_ask_takes_any_text_or_files_without_text() {
        let question = Question::Select {
            options: approve_or_deny(),
            allow_edit: false,
            many: true,
        };
        let closed = ask(question);
        let open = Ask {
            open_ended: true,
            ..closed.clone()
        };
        assert_eq!(
            check_ask(&open, &json!("neither"), false),
            Ok(CheckedAnswer { edited: true })
        );
        assert_eq!(
            check_ask(&open, &json!(["deny"]), false),
            Ok(CheckedAnswer { edited: false })
        );
        let text = Ask {
            question: Question::Text,
            ..open.clone()
        };
        for ask in [&open, &text] {
            assert_eq!(check_ask(ask, &json!(""), true), Ok(CheckedAnswer { edited: false }));
            assert_eq!(check_ask(ask, &json!(" \n"), true), Ok(CheckedAnswer { edited: false }));
        }
        for (ask, value, has_files) in [
            (&open, json!(""), false),
            (&open, json!("  "), false),
            (&text, json!(" \n"), false),
            (&open, json!(1), true),
            (&open, json!(["x"]), false),
            (&closed, json!("neither"), true),
        ] {
            assert!(check_ask(ask, &value, has_files).is_err(), "{value}");
        }
    }

    #[test]
    fn a_single_choice_refuses_a_list() {
        let one = Question::Select {
            options: approve_or_deny(),
            allow_edit: true,
            many: false,
        };
        assert!(check(&one, &json!(["deny"])).is_err());
    }

    #[test]
    fn a_text_has_a_maximum_length() {
        for text in ["x", "two\nlines", &"é".repeat(MAX_TYPED_CHARS)] {
            assert_eq!(
                check(&Question::Text, &json!(text)),
                Ok(CheckedAnswer { edited: false })
            );
        }
        for value in [
            json!(""),
            json!("é".repeat(MAX_TYPED_CHARS + 1)),
            json!(1),
            json!(["x"]),
            json!(null),
        ] {
            assert!(check(&Question::Text, &value).is_err());
        }
    }

    #[test]
    fn a_text_that_may_be_empty_is_limited_only_in_bytes() {
        let strict = ask(Question::Text);
        let lenient = Ask {
            may_be_empty: true,
            ..strict.clone()
        };
        for text in ["", " ", "\n", &"é".repeat(MAX_TEXT_BYTES / 2)] {
            assert_eq!(
                check_ask(&lenient, &json!(text), false),
                Ok(CheckedAnswer { edited: false })
            );
        }
        assert!(check_ask(&strict, &json!(""), false).is_err());
        assert!(check_ask(&strict, &json!("é".repeat(MAX_TYPED_CHARS + 1)), false).is_err());
        for value in [
            json!("x".repeat(MAX_TEXT_BYTES + 1)),
            json!(null),
            json!(1),
            json!([""]),
        ] {
            assert!(check_ask(&lenient, &value, false).is_err());
        }
    }

    #[test]
    fn only_a_text_may_be_empty() {
        for many in [false, true] {
            let question = Question::Select {
                options: approve_or_deny(),
                allow_edit: true,
                many,
            };
            let lenient = Ask {
                may_be_empty: true,
                ..ask(question)
            };
            assert!(check_ask(&lenient, &json!(""), false).is_err());
        }
    }

    #[test]
    fn may_be_empty_is_serialized_only_when_true() {
        let strict = ask(Question::Text);
        assert_eq!(json!(strict).get("may_be_empty"), None);
        let lenient = Ask {
            may_be_empty: true,
            ..strict.clone()
        };
        assert_eq!(json!(lenient)["may_be_empty"], true);
        for ask in [strict, lenient] {
            assert_eq!(
                serde_json::from_value::<Ask>(json!(ask)).expect("what was written"),
                ask
            );
        }
    }
}
