use countersign_core::form::fields;
use serde_json::json;

use super::*;

fn of(property: Value, sent: Option<&str>) -> Control {
    let schema = json!({"properties": {"it": property}, "required": ["it"]});
    let sent = sent.map(|text| FormFields::parse(format!("field.it={text}").as_bytes()));
    control_of(&fields(&schema)[0], 0, sent.as_ref(), &FormErrors::default())
}

fn holds(control: &Control) -> (&str, String) {
    match &control.shape {
        ControlShape::Fixed(value) => ("fixed", value.clone()),
        ControlShape::Line { kind, value } | ControlShape::Zoned { kind, value, .. } => (kind, value.clone()),
        ControlShape::Number { value, .. } => ("number", value.clone()),
        ControlShape::Lines { value } => ("lines", value.clone()),
        ControlShape::Boxes(options) => {
            let chosen = options
                .iter()
                .filter(|option| option.chosen)
                .map(|option| option.label.as_str());
            ("boxes", chosen.collect::<Vec<_>>().join(","))
        }
        ControlShape::Radios(options) | ControlShape::List(options) => {
            let chosen = options
                .iter()
                .find(|option| option.chosen)
                .map(|option| option.label.clone());
            ("options", chosen.unwrap_or_default())
        }
    }
}

#[test]
fn default_is_filled_in_unless_a_value_was_sent() {
    for (property, suggested) in [
        (json!({"type": "string", "default": "now"}), ("text", "now")),
        (json!({"type": "integer", "default": 3}), ("number", "3")),
        (json!({"type": "boolean", "default": false}), ("options", "No")),
        (json!({"type": "boolean"}), ("options", "")),
        (
            json!({"type": "string", "format": "date-time", "default": "2026-11-16T14:30:00+01:00"}),
            ("datetime-local", "2026-11-16T13:30"),
        ),
        (json!({"type": "string", "format": "time"}), ("time", "")),
        (json!({"enum": ["eu", "us"], "default": "us"}), ("options", "us")),
        (
            json!({"type": "string", "format": "date", "default": "2026-11-16"}),
            ("date", "2026-11-16"),
        ),
    ] {
        let (kind, expected) = suggested;
        assert_eq!(holds(&of(property, None)), (kind, expected.to_owned()));
    }
    assert_eq!(
        holds(&of(json!({"type": "string", "default": "now"}), Some("later"))),
        ("text", "later".to_owned())
    );
    assert_eq!(
        holds(&of(json!({"enum": ["eu", "us"], "default": "us"}), Some("0"))),
        ("options", "eu".to_owned())
    );
}

#[test]
fn multiple_choices_are_check_boxes_and_shown_by_label() {
    let zones = json!({"type": "array", "items": {"enum": ["eu", "us", "asia"]}, "default": ["us"]});
    assert_eq!(holds(&of(zones.clone(), None)), ("boxes", "us".to_owned()));
    assert_eq!(
        holds(&of(zones.clone(), Some("0&field.it=2"))),
        ("boxes", "eu,asia".to_owned())
    );
    assert_eq!(
        holds(&of(zones.clone(), Some(""))),
        ("boxes", String::new()),
        "an unticked default stays unticked"
    );
    let field = &fields(&json!({"properties": {"it": zones}}))[0];
    assert_eq!(value_label(field, &json!(["asia", "eu"])), "asia, eu");
}

#[test]
fn secret_is_hidden_and_never_filled_in() {
    let secret = json!({"type": "string", "default": "hunter1", "x-a2h-sensitive": true});
    assert_eq!(holds(&of(secret.clone(), None)), ("password", String::new()));
    assert_eq!(holds(&of(secret.clone(), Some("hunter2"))), ("password", String::new()));
    assert_eq!(of(secret, None).hidden_in_default, None);
    let fixed = json!({"default": "hunter1", "x-a2h-sensitive": true, "readOnly": true});
    assert_eq!(holds(&of(fixed, None)), ("fixed", "hidden".to_owned()));
}

#[test]
fn hidden_characters_in_a_default_are_shown_beside_the_input() {
    let hidden = of(json!({"type": "string", "default": "pay\u{202e}001"}), None).hidden_in_default;
    assert_eq!(hidden.as_deref(), Some("pay\\u{202e}001"));
    assert_eq!(
        of(json!({"type": "string", "default": "two\nlines"}), None).hidden_in_default,
        None
    );
}

#[test]
fn browser_validates_steps_only_if_it_counts_them_like_the_schema() {
    let step = |property| match of(property, None).shape {
        ControlShape::Number { step, .. } => step,
        _ => panic!("no number"),
    };
    assert_eq!(step(json!({"type": "number"})), "any");
    assert_eq!(step(json!({"type": "integer", "minimum": 3})), "1");
    assert_eq!(step(json!({"type": "number", "multipleOf": 0.5, "minimum": 1})), "0.5");
    assert_eq!(step(json!({"type": "integer", "multipleOf": 5, "minimum": 3})), "any");
}

#[test]
fn error_ids_are_valid_for_any_field_name() {
    assert_eq!(error_id("reason", 2), "error-reason");
    for odd in ["two words", "comment", "", "ü"] {
        assert_eq!(error_id(odd, 2), "error-field-2");
    }
}

#[test]
fn constraints_are_shown_beside_the_input() {
    assert_eq!(
        of(json!({"type": "string", "minLength": 3, "maxLength": 9}), None).demand,
        "3 to 9 characters"
    );
    assert_eq!(
        of(json!({"type": "integer", "minimum": 0}), None).demand,
        "Whole number, 0 or more"
    );
    assert_eq!(of(json!({"type": "string", "minLength": 1}), None).demand, "");
}

#[test]
fn hints_are_in_the_words_of_people() {
    let demand = |property: Value| of(property, None).demand;
    assert_eq!(demand(json!({"type": "string", "format": "email"})), "Email address");
    assert_eq!(demand(json!({"type": "string", "format": "date-time"})), "");
    assert_eq!(
        demand(json!({"type": "integer", "minimum": 1, "maximum": 500, "multipleOf": 5})),
        "Whole number, 1 to 500, in steps of 5"
    );
    let zip = json!({"type": "string", "maxLength": 5, "pattern": "^[0-9]+$"});
    assert_eq!(demand(zip.clone()), "Up to 5 characters, in a certain form");
    assert_eq!(of(zip, None).form.as_deref(), Some("^[0-9]+$"));
    let iban = json!({"type": "string", "format": "iban"});
    assert_eq!(demand(iban.clone()), "In a certain form");
    assert_eq!(of(iban, None).form.as_deref(), Some("iban"));
    for property in [
        json!({"type": "string", "format": "uri"}),
        json!({"type": "number", "maximum": 40}),
    ] {
        assert!(!demand(property.clone()).contains("uri"), "{property}");
    }
}

#[test]
fn a_required_choice_starts_without_a_selection_and_offers_no_empty_one() {
    let labels = |required: bool| {
        let required = if required { json!(["it"]) } else { json!([]) };
        let schema = json!({"properties": {"it": {"enum": ["eu", "us"]}}, "required": required});
        match control_of(&fields(&schema)[0], 0, None, &FormErrors::default()).shape {
            ControlShape::Radios(options) => options
                .into_iter()
                .map(|option| (option.label, option.chosen))
                .collect::<Vec<_>>(),
            _ => panic!("no radios"),
        }
    };
    let named = |pairs: &[(&str, bool)]| {
        pairs
            .iter()
            .map(|(label, on)| ((*label).to_owned(), *on))
            .collect::<Vec<_>>()
    };
    assert_eq!(labels(true), named(&[("eu", false), ("us", false)]));
    assert_eq!(
        labels(false),
        named(&[("No answer", true), ("eu", false), ("us", false)])
    );
}
