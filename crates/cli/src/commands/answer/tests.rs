use clap::Parser;

use super::*;

#[derive(Parser)]
struct Line {
    #[command(flatten)]
    answer: AnswerArgs,
}

fn args(arguments: &[&str]) -> AnswerArgs {
    let mut args = Line::parse_from(["answer", "msg_1"].iter().chain(arguments)).answer;
    args.take_item();
    args
}

fn item(verb: &str, extra: &Value) -> ClientItem {
    let mut item = json!({
        "id": "msg_1", "type": verb, "status": "open", "title": "t", "priority": "normal",
        "agent": {"id": "bot", "run_id": "r", "runtime": "cli"}, "created_at": "2026-06-04T15:00:00.000Z",
    });
    item.as_object_mut().unwrap().extend(extra.as_object().unwrap().clone());
    serde_json::from_value(item).unwrap()
}

fn task() -> ClientItem {
    let checklist = json!([{"text": "a", "done": true}, {"text": "b"}, {"text": "c", "done": false}]);
    item(
        "task",
        &json!({"action": {"instructions": "do", "checklist": checklist}}),
    )
}

#[test]
fn a_task_is_sent_back_with_its_ticked_checklist() {
    let line = ["--complete", "--check", "3", "--open-steps", "--comment", "done"];
    let body = resolution(&args(&line), &task()).unwrap();
    let steps = json!([{"text": "a", "done": true}, {"text": "b", "done": false}, {"text": "c", "done": true}]);
    assert_eq!(
        body,
        json!({"resolution": "completed", "checklist": steps, "comment": "done"})
    );
    let body = resolution(&args(&["--dismiss"]), &task()).unwrap();
    assert_eq!(body, json!({"resolution": "dismissed"}));
    for number in ["0", "4"] {
        assert!(resolution(&args(&["--complete", "--check", number]), &task()).is_err());
    }
}

#[test]
fn a_task_with_open_steps_is_done_only_if_they_are_ticked_or_accepted() {
    let error = resolution(&args(&["--done", "--check", "2"]), &task())
        .unwrap_err()
        .to_string();
    assert_eq!(
        error,
        "1 of 3 steps is open: 3 (c). Tick each finished step with --check N, or add --open-steps to send it anyway \
         (invalid_field)"
    );
    let error = resolution(&args(&["--done"]), &task()).unwrap_err().to_string();
    assert!(error.starts_with("2 of 3 steps are open: 2 (b), 3 (c)."), "{error}");
    assert!(resolution(&args(&["--done", "--check", "2", "--check", "3"]), &task()).is_ok());
    let body = resolution(&args(&["--done", "--open-steps"]), &task()).unwrap();
    assert_eq!(body, json!({"resolution": "completed"}));
}

#[test]
fn a_task_takes_no_value() {
    let error = resolution(&args(&["yes"]), &task()).unwrap_err();
    assert!(error.to_string().contains("--done"));
}

#[test]
fn an_answer_is_translated_and_text_is_not() {
    let options = json!([{"value": "approve", "label": "Ship it"}, {"value": "deny", "label": "Hold"}]);
    let ask = item(
        "ask",
        &json!({"question": {"kind": "confirm", "options": options, "allow_edit": true}}),
    );
    let body = resolution(&args(&["no"]), &ask).unwrap();
    assert_eq!(body, json!({"resolution": "answered", "value": "deny"}));
    let body = resolution(&args(&["--text", "no"]), &ask).unwrap();
    assert_eq!(body, json!({"resolution": "answered", "value": "no"}));
    let body = resolution(&args(&["--decline"]), &ask).unwrap();
    assert_eq!(body, json!({"resolution": "declined"}));
}

#[test]
fn several_values_answer_only_a_question_for_many() {
    let options = json!([{"value": "r", "label": "Red"}, {"value": "g", "label": "Green"}]);
    let question = |many| {
        item(
            "ask",
            &json!({"question": {"kind": "select", "options": options, "many": many}}),
        )
    };
    let body = resolution(&args(&["Green", "1"]), &question(true)).unwrap();
    assert_eq!(body, json!({"resolution": "answered", "value": ["g", "r"]}));
    let body = resolution(&args(&["2"]), &question(true)).unwrap();
    assert_eq!(body, json!({"resolution": "answered", "value": ["g"]}));
    assert!(resolution(&args(&["r", "g"]), &question(false)).is_err());
}

#[test]
fn a_text_is_sent_as_it_is_typed() {
    let ask = item("ask", &json!({"question": {"kind": "text"}}));
    for arguments in [&["yes, go on"][..], &["--text", "yes, go on"]] {
        let body = resolution(&args(arguments), &ask).unwrap();
        assert_eq!(body, json!({"resolution": "answered", "value": "yes, go on"}));
    }
    for blank in [&["--text", " "][..], &["--text", ""], &[" "]] {
        let error = resolution(&args(blank), &ask).unwrap_err().to_string();
        assert!(error.contains("--text is blank"), "{blank:?}: {error}");
    }
    assert!(resolution(&args(&["yes,", "go on"]), &ask).is_err());
    assert!(resolution(&args(&["--field", "a=b"]), &ask).is_err());
}

#[test]
fn a_form_with_one_text_field_takes_the_text_alone() {
    let schema = json!({"properties": {"answer": {"type": "string"}}});
    let ask = item("ask", &json!({"question": {"kind": "form", "schema": schema}}));
    for arguments in [&["dry wit"][..], &["--text", "dry wit"], &[r#"{"answer":"dry wit"}"#]] {
        let body = resolution(&args(arguments), &ask).unwrap();
        assert_eq!(
            body,
            json!({"resolution": "answered", "value": {"answer": "dry wit"}}),
            "{arguments:?}"
        );
    }
    let body = resolution(&args(&[r#"{"other":1}"#]), &ask).unwrap();
    assert_eq!(body["value"], json!({"answer": r#"{"other":1}"#}), "JSON is a text too");
}

#[test]
fn free_text_is_refused_where_the_question_does_not_allow_it() {
    let options = json!([{"value": "r", "label": "Red"}, {"value": "g", "label": "Green"}]);
    let form = json!({"kind": "form", "schema": {"properties": {"a": {"type": "string"}, "b": {"type": "string"}}}});
    for (question, wanted) in [
        (
            json!({"kind": "select", "options": options, "many": true, "allow_edit": true}),
            "r (Red), g",
        ),
        (json!({"kind": "confirm", "options": options}), "r (Red), g"),
        (form, "--field"),
    ] {
        let error = resolution(
            &args(&["--text", "blue"]),
            &item("ask", &json!({ "question": question })),
        );
        let error = error.unwrap_err().to_string();
        assert!(error.contains(wanted) && error.contains("msg_1"), "{error}");
        let open = item("ask", &json!({"question": question, "open_ended": true}));
        let body = resolution(&args(&["--text", "blue"]), &open).unwrap();
        assert_eq!(body, json!({"resolution": "answered", "value": "blue"}));
    }
}

#[test]
fn a_run_takes_an_empty_text_and_a_decision_by_word_or_number() {
    let text = item(
        "ask",
        &countersign_client::item::test_data::asked(&json!({"kind": "text"})),
    );
    for arguments in [&[""][..], &["--text", ""]] {
        assert_eq!(
            resolution(&args(arguments), &text).unwrap(),
            json!({"resolution": "answered", "value": ""})
        );
    }
    let options =
        json!([{"value": "allow", "label": "Allow once"}, {"value": "deny-session", "label": "Deny in this run"}]);
    let permission = item(
        "ask",
        &countersign_client::item::test_data::asked(&json!({"kind": "select", "options": options})),
    );
    for word in ["deny-session", "Deny in this run", "2"] {
        let body = resolution(&args(&[word]), &permission).unwrap();
        assert_eq!(
            body,
            json!({"resolution": "answered", "value": "deny-session"}),
            "{word}"
        );
    }
}

#[test]
fn files_are_for_open_ended_questions_alone() {
    let ask = item("ask", &json!({"question": {"kind": "text"}}));
    let error = resolution(&args(&["--file", "/nowhere"]), &ask)
        .unwrap_err()
        .to_string();
    assert!(error.contains("takes no files"), "{error}");
    let error = resolution(&args(&["--file", "/nowhere"]), &task())
        .unwrap_err()
        .to_string();
    assert!(error.contains("takes no files"), "{error}");
}

#[test]
fn a_late_answer_is_told_the_earlier_decision() {
    let won = json!({
        "resolution_id": "res_1", "resolution": "answered", "value": "approve", "edited": false, "defaulted": false,
        "actor": "human:ann", "resolved_at": "2026-06-04T15:00:01.000Z",
    });
    let item = item("ask", &json!({"resolution": won}));
    let expected = "msg_1 is already answered approve by ann at 2026-06-04T15:00:01.000Z (already_terminal)";
    assert_eq!(already_decided(&item).as_deref(), Some(expected));
}
