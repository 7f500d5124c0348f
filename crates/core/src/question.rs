//! The question of an ask, and the checks that refuse an unanswerable one at submit time.

use countersign_protocol::a2h::limits::{MAX_OPTION_CHARS, MAX_OPTIONS};
use countersign_protocol::a2h::{APPROVE, Choice, DENY};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::answer;
use crate::rejection::Rejection;
use crate::schema;
use crate::vocabulary::Action;

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
        answer::check(&offered, default)
            .map(drop)
            .map_err(|rejection| match rejection {
                Rejection::InvalidField { message, .. } => Rejection::field("request.default_on_expire", message),
                other => other,
            })
    }
}

fn check_options(options: &[Choice]) -> Result<(), Rejection> {
    if options.is_empty() {
        return Err(Rejection::field("request.options", "offer at least one option"));
    }
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

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn choice(value: &str) -> Choice {
        Choice {
            value: value.to_owned(),
            label: value.to_owned(),
            description: None,
        }
    }

    fn ask(question: Question, default: Option<Value>) -> Ask {
        Ask {
            question,
            may_respond: true,
            may_decline: true,
            open_ended: false,
            may_be_empty: false,
            default_on_expire: default,
        }
    }

    fn field_at_fault(ask: &Ask) -> String {
        match ask.check() {
            Err(Rejection::InvalidField { field, .. }) => field,
            other => panic!("expected a field error, got {other:?}"),
        }
    }

    #[test]
    fn yes_is_recognized_only_by_its_value() {
        assert_eq!(yes_and_no(&["approve", "deny"]), (Some(0), Some(1)));
        assert_eq!(yes_and_no(&["deny", "approve"]), (Some(1), Some(0)));
        assert_eq!(yes_and_no(&["deny", "later"]), (None, Some(0)));
        assert_eq!(yes_and_no(&["No", "Yes"]), (None, None));
    }

    #[test]
    fn option_values_must_be_unique_and_not_empty() {
        let twice = Question::Select {
            options: vec![choice("a"), choice("a")],
            allow_edit: false,
            many: false,
        };
        assert_eq!(field_at_fault(&ask(twice, None)), "request.options[1].value");
        let empty = Question::Select {
            options: vec![choice("")],
            allow_edit: false,
            many: false,
        };
        assert_eq!(field_at_fault(&ask(empty, None)), "request.options[0].value");
    }

    #[test]
    fn a_choice_without_options_is_refused() {
        for many in [false, true] {
            let nothing = Question::Select {
                options: Vec::new(),
                allow_edit: true,
                many,
            };
            assert_eq!(field_at_fault(&ask(nothing, None)), "request.options");
        }
    }

    #[test]
    fn a_default_must_be_offered_even_if_free_text_is_allowed() {
        let question = Question::Confirm {
            options: approve_or_deny(),
            allow_edit: true,
        };
        assert!(ask(question.clone(), Some(json!("deny"))).check().is_ok());
        assert_eq!(
            field_at_fault(&ask(question, Some(json!("perhaps")))),
            "request.default_on_expire"
        );
    }

    #[test]
    fn a_default_for_many_is_a_list_of_offered_values() {
        let question = Question::Select {
            options: approve_or_deny(),
            allow_edit: true,
            many: true,
        };
        assert!(ask(question.clone(), Some(json!(["deny", "approve"]))).check().is_ok());
        for default in [json!("deny"), json!([]), json!(["perhaps"])] {
            assert_eq!(
                field_at_fault(&ask(question.clone(), Some(default))),
                "request.default_on_expire"
            );
        }
    }

    #[test]
    fn a_default_for_a_text_is_a_text() {
        assert!(ask(Question::Text, Some(json!("go on"))).check().is_ok());
        for default in [json!(""), json!(["go on"]), json!({"text": "go on"})] {
            assert_eq!(
                field_at_fault(&ask(Question::Text, Some(default))),
                "request.default_on_expire"
            );
        }
    }

    #[test]
    fn a_question_is_serialized_with_its_kind_and_without_defaults() {
        assert_eq!(json!(Question::Text), json!({"kind": "text"}));
        let one = Question::Select {
            options: vec![choice("a")],
            allow_edit: false,
            many: false,
        };
        assert_eq!(json!(one)["kind"], "select");
        assert_eq!(json!(one).get("many"), None);
        let many = Question::Select {
            options: vec![choice("a")],
            allow_edit: false,
            many: true,
        };
        assert_eq!(json!(many)["many"], true);
        for question in [Question::Text, one, many] {
            assert_eq!(
                serde_json::from_value::<Question>(json!(question)).expect("what was written"),
                question
            );
        }
    }

    #[test]
    fn a_default_must_match_the_form() {
        let schema = json!({"type": "object", "properties": {"n": {"type": "number"}}, "required": ["n"]});
        let question = Question::Form { schema };
        assert!(ask(question.clone(), Some(json!({"n": 1}))).check().is_ok());
        assert_eq!(
            field_at_fault(&ask(question, Some(json!({"n": "one"})))),
            "request.default_on_expire"
        );
    }
}
