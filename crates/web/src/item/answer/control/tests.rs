use countersign_core::form::fields;
use serde_json::json;

use super::*;

fn of(property: Value, sent: Option<&str>) -> Control {
    let schema = json!({"properties": {"it": property}, "required": ["it"]});
    let sent = sent.map(|text| Fields::parse(format!("field.it={text}").as_bytes()));
    control_of(&fields(&schema)[0], 0, sent.as_ref(), &Faults::default())
}

fn holds(control: &Control) -> (&str, String) {
    match &control.shape {
        Shape::Fixed(value) => ("fixed", value.clone()),
        Shape::Line { kind, value, .. } => (kind, value.clone()),
        Shape::Number { value, .. } => ("number", value.clone()),
        Shape::Lines { value } => ("lines", value.clone()),
        Shape::Boxes(picks) => {
            let chosen = picks.iter().filter(|pick| pick.chosen).map(|pick| pick.label.as_str());
            ("boxes", chosen.collect::<Vec<_>>().join(","))
        }
        Shape::Radios(picks) | Shape::List(picks) => {
            let chosen = picks.iter().find(|pick| pick.chosen).map(|pick| pick.label.clone());
            ("picks", chosen.unwrap_or_default())
        }
    }
}

#[test]
fn what_the_agent_suggests_is_filled_in_and_what_was_sent_stays() {
    for (property, suggested) in [
        (json!({"type": "string", "default": "now"}), ("text", "now")),
        (json!({"type": "integer", "default": 3}), ("number", "3")),
        (json!({"type": "boolean", "default": false}), ("picks", "No")),
        (json!({"type": "boolean"}), ("picks", "Choose…")),
        (json!({"enum": ["eu", "us"], "default": "us"}), ("picks", "us")),
        (
            json!({"type": "string", "format": "date", "default": "2026-11-16"}),
            ("date", "2026-11-16"),
        ),
    ] {
        let (kind, held) = suggested;
        assert_eq!(holds(&of(property, None)), (kind, held.to_owned()));
    }
    assert_eq!(
        holds(&of(json!({"type": "string", "default": "now"}), Some("later"))),
        ("text", "later".to_owned())
    );
    assert_eq!(
        holds(&of(json!({"enum": ["eu", "us"], "default": "us"}), Some("0"))),
        ("picks", "eu".to_owned())
    );
}

#[test]
fn of_several_choices_each_is_a_box_and_told_by_its_label() {
    let zones = json!({"type": "array", "items": {"enum": ["eu", "us", "asia"]}, "default": ["us"]});
    assert_eq!(holds(&of(zones.clone(), None)), ("boxes", "us".to_owned()));
    assert_eq!(
        holds(&of(zones.clone(), Some("0&field.it=2"))),
        ("boxes", "eu,asia".to_owned())
    );
    assert_eq!(
        holds(&of(zones.clone(), Some(""))),
        ("boxes", String::new()),
        "taken away is taken away"
    );
    let field = &fields(&json!({"properties": {"it": zones}}))[0];
    assert_eq!(answered(field, &json!(["asia", "eu"])), "asia, eu");
}

#[test]
fn a_secret_is_hidden_and_never_filled_in() {
    let secret = json!({"type": "string", "default": "hunter1", "x-a2h-sensitive": true});
    assert_eq!(holds(&of(secret.clone(), None)), ("password", String::new()));
    assert_eq!(holds(&of(secret.clone(), Some("hunter2"))), ("password", String::new()));
    assert_eq!(of(secret, None).hidden_in_default, None);
    let fixed = json!({"default": "hunter1", "x-a2h-sensitive": true, "readOnly": true});
    assert_eq!(holds(&of(fixed, None)), ("fixed", "hidden".to_owned()));
}

#[test]
fn characters_that_an_input_does_not_show_are_told_beside_it() {
    let hidden = of(json!({"type": "string", "default": "pay\u{202e}001"}), None).hidden_in_default;
    assert_eq!(hidden.as_deref(), Some("pay\\u{202e}001"));
    assert_eq!(
        of(json!({"type": "string", "default": "two\nlines"}), None).hidden_in_default,
        None
    );
}

#[test]
fn a_browser_judges_steps_only_where_it_counts_them_alike() {
    let step = |property| match of(property, None).shape {
        Shape::Number { step, .. } => step,
        _ => panic!("no number"),
    };
    assert_eq!(step(json!({"type": "number"})), "any");
    assert_eq!(step(json!({"type": "integer", "minimum": 3})), "1");
    assert_eq!(step(json!({"type": "number", "multipleOf": 0.5, "minimum": 1})), "0.5");
    assert_eq!(step(json!({"type": "integer", "multipleOf": 5, "minimum": 3})), "any");
}

#[test]
fn ids_are_fit_for_a_page_whatever_a_field_is_called() {
    assert_eq!(error_id("reason", 2), "error-reason");
    for odd in ["two words", "comment", "", "ü"] {
        assert_eq!(error_id(odd, 2), "error-field-2");
    }
}

#[test]
fn what_is_demanded_is_said_before_it_is_missed() {
    assert_eq!(
        of(json!({"type": "string", "minLength": 3, "maxLength": 9}), None).demand,
        "3 to 9 characters"
    );
    assert_eq!(
        of(json!({"type": "integer", "minimum": 0}), None).demand,
        "a whole number, 0 or more"
    );
    assert_eq!(of(json!({"type": "string", "minLength": 1}), None).demand, "");
}
