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
    let closed = ask(question, None);
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
    let strict = ask(Question::Text, None);
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
            ..ask(question, None)
        };
        assert!(check_ask(&lenient, &json!(""), false).is_err());
    }
}

#[test]
fn may_be_empty_is_serialized_only_when_true() {
    let strict = ask(Question::Text, None);
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
