use std::collections::BTreeMap;

use countersign_core::question::approve_or_deny;
use countersign_protocol::a2h::{Agent, Priority};
use serde_json::json;

use super::*;

fn content(payload: Payload) -> Content {
    let id = |text: &str| text.to_owned();
    Content {
        agent: Agent {
            id: id("bot"),
            run_id: id("1"),
            runtime: id("cli"),
            project: None,
            labels: BTreeMap::new(),
        },
        title: id("Deploy?"),
        body: None,
        priority: Priority::Normal,
        tags: Vec::new(),
        context: Vec::new(),
        sensitive: false,
        payload,
        resolvers: Vec::new(),
    }
}

fn asked(question: Question) -> Content {
    let may_respond = true;
    let may_decline = true;
    let open_ended = false;
    content(Payload::Ask(Ask {
        question,
        may_respond,
        may_decline,
        open_ended,
        may_be_empty: false,
        default_on_expire: None,
    }))
}

fn sent(question: Question, query: &str) -> Result<ParsedAnswer, FormErrors> {
    parse_answer(&asked(question), &FormFields::parse(query.as_bytes()), &[])
}

fn answered(value: Value) -> Result<ParsedAnswer, FormErrors> {
    Ok(ParsedAnswer {
        verdict: Verdict::Answered(value),
        comment: None,
    })
}

fn with_comment(verdict: Verdict, comment: &str) -> Result<ParsedAnswer, FormErrors> {
    Ok(ParsedAnswer {
        verdict,
        comment: Some(comment.to_owned()),
    })
}

fn confirm(allow_edit: bool) -> Question {
    Question::Confirm {
        options: approve_or_deny(),
        allow_edit,
    }
}

#[test]
fn choice_is_read_with_its_comment() {
    assert_eq!(sent(confirm(false), "value=approve"), answered(json!("approve")));
    let with = sent(confirm(false), "value=deny&comment=two%0D%0Alines+");
    assert_eq!(with, with_comment(Verdict::Answered(json!("deny")), "two\nlines"));
    assert!(sent(confirm(false), "value=perhaps").is_err());
    assert!(sent(confirm(false), "").is_err());
    assert!(sent(confirm(false), "verdict=approved").is_err());
}

#[test]
fn own_words_count_only_if_accepted_and_without_a_choice() {
    assert_eq!(
        sent(confirm(true), "verdict=answered&typed=on+Monday"),
        answered(json!("on Monday"))
    );
    let both = sent(confirm(true), "value=approve&typed=on+Monday").expect_err("two answers");
    assert_eq!(both.of("typed").len(), 1);
    assert!(sent(confirm(false), "verdict=answered&typed=on+Monday").is_err());
    assert_eq!(sent(confirm(true), "value=approve&typed=+"), answered(json!("approve")));
}

#[test]
fn rejection_carries_preset_reason_and_comment() {
    let denied = sent(
        confirm(false),
        "verdict=denied&preset=Too+risky&reason=not+on+Friday&comment=sorry",
    );
    assert_eq!(
        denied,
        with_comment(Verdict::Answered(json!("deny")), "Too risky\nnot on Friday\nsorry")
    );
    assert_eq!(
        sent(Question::Text, "verdict=declined&value=x&reason=no"),
        with_comment(Verdict::Declined, "no")
    );
    assert!(
        sent(Question::Text, "verdict=denied").is_err(),
        "there is no choice that says no"
    );
}

#[test]
fn reason_is_sent_with_every_button() {
    let plain = sent(
        confirm(false),
        "value=deny&preset=Too+risky&reason=+not+on+Friday&comment=sorry",
    );
    assert_eq!(
        plain,
        with_comment(Verdict::Answered(json!("deny")), "Too risky\nnot on Friday\nsorry")
    );
    let approved = sent(confirm(false), "value=approve&preset=&reason=after+all");
    assert_eq!(approved, with_comment(Verdict::Answered(json!("approve")), "after all"));
    let text = sent(Question::Text, "value=x&verdict=answered&preset=Too+risky&reason=");
    assert_eq!(text, with_comment(Verdict::Answered(json!("x")), "Too risky"));
}

#[test]
fn multiple_choices_and_free_text_are_read() {
    let many = Question::Select {
        options: approve_or_deny(),
        allow_edit: false,
        many: true,
    };
    assert_eq!(
        sent(many.clone(), "value=deny&value=approve&verdict=answered"),
        answered(json!(["deny", "approve"]))
    );
    assert!(sent(many.clone(), "verdict=answered").is_err());
    assert!(sent(many, "value=deny&value=deny").is_err());
    assert_eq!(sent(Question::Text, "value=a%0D%0Ab"), answered(json!("a\nb")));
    assert_eq!(
        sent(Question::Text, "value=").expect_err("nothing").of("value").len(),
        1
    );
}

#[test]
fn choice_with_changed_line_breaks_is_still_the_offered_one() {
    let option = Choice {
        value: "a\nb".to_owned(),
        label: "both".to_owned(),
        description: None,
    };
    let question = Question::Select {
        options: vec![option],
        allow_edit: false,
        many: false,
    };
    assert_eq!(sent(question, "value=a%0D%0Ab"), answered(json!("a\nb")));
}

#[test]
fn form_reports_one_error_for_every_wrong_field() {
    let schema = json!({
        "properties": {
            "count": {"type": "integer", "minimum": 1},
            "size": {"enum": ["s", "m"]},
            "why": {"type": "string", "minLength": 3},
        },
        "required": ["why", "count"],
    });
    let question = Question::Form { schema };
    let right = sent(
        question.clone(),
        "field.count=2&field.size=1&field.why=because&verdict=answered",
    );
    assert_eq!(right, answered(json!({"count": 2, "size": "m", "why": "because"})));
    let faults = sent(question, "field.count=two&field.size=9&field.why=no").expect_err("all wrong");
    for name in ["count", "size", "why"] {
        assert_eq!(faults.of(&input_name(name)).len(), 1, "{name}: {faults:?}");
    }
}

#[test]
fn task_returns_its_checklist_with_the_ticks() {
    let item = |text: &str, done| CheckItem {
        text: text.to_owned(),
        done,
    };
    let task = |checklist| {
        content(Payload::Task(Task {
            instructions: "do".to_owned(),
            checklist,
            verification: None,
        }))
    };
    let with_list = task(vec![item("a", true), item("b", false)]);
    let read_from = |content: &Content, query: &str| parse_answer(content, &FormFields::parse(query.as_bytes()), &[]);
    let expected = Verdict::Completed(Some(vec![item("a", false), item("b", true)]));
    let ticks = "done=1&done=7&done=x&verdict=completed";
    let asked = read_from(&with_list, ticks).expect_err("a question about the open step");
    assert_eq!(asked.of(OPEN_STEPS), ["1 step is open"]);
    let reading = read_from(&with_list, &format!("{ticks}&open_steps=yes")).expect("a reading");
    assert_eq!(reading.verdict, expected);
    let reading = read_from(&task(Vec::new()), "verdict=dismissed&comment=done+elsewhere");
    assert_eq!(reading, with_comment(Verdict::Dismissed(None), "done elsewhere"));
    assert!(read_from(&with_list, "verdict=answered&value=x").is_err());
    assert!(read_from(&content(Payload::Notify), "verdict=answered").is_err());
}

#[test]
fn too_long_comment_is_refused() {
    let long = format!("value=approve&comment={}", "x".repeat(20_001));
    assert_eq!(
        sent(confirm(false), &long).expect_err("too long").of("comment").len(),
        1
    );
}

fn open_ended(question: Question, query: &str, files: &[FileNote]) -> Result<ParsedAnswer, FormErrors> {
    let may_respond = true;
    let may_decline = true;
    let open_ended = true;
    let ask = Ask {
        question,
        may_respond,
        may_decline,
        open_ended,
        may_be_empty: false,
        default_on_expire: None,
    };
    parse_answer(&content(Payload::Ask(ask)), &FormFields::parse(query.as_bytes()), files)
}

fn zones() -> Question {
    let zone = json!({"type": "array", "items": {"enum": ["eu", "us", "asia"]}, "uniqueItems": true});
    Question::Form {
        schema: json!({"properties": {"Zone": zone, "Why": {"type": "string"}}}),
    }
}

#[test]
fn open_ended_question_accepts_own_words() {
    let many = Question::Select {
        options: approve_or_deny(),
        allow_edit: false,
        many: true,
    };
    for question in [confirm(false), many, zones()] {
        let written = open_ended(
            question.clone(),
            "verdict=answered&typed=on%0D%0AMonday&value=&field.Why=",
            &[],
        );
        assert_eq!(written, answered(json!("on\nMonday")));
        let both = "typed=on+Monday&value=approve&field.Why=load";
        let errors = open_ended(question, both, &[]).expect_err("two answers").of("typed");
        assert!(
            errors.len() == 1 && errors[0].contains("choose one of the two"),
            "{errors:?}"
        );
    }
}

#[test]
fn multiple_choice_field_accepts_any_number_of_choices() {
    let sent = |query: &str| open_ended(zones(), query, &[]);
    assert_eq!(
        sent("field.Zone=2&field.Zone=0&field.Why="),
        answered(json!({"Zone": ["asia", "eu"]}))
    );
    assert_eq!(sent("field.Why=load"), answered(json!({"Why": "load"})));
    assert_eq!(
        sent("field.Zone=7").expect_err("no such choice").of("field.Zone").len(),
        1
    );
}

#[test]
fn files_are_sent_with_an_answer_or_alone() {
    let file = FileNote {
        name: "a.log".to_owned(),
        media_type: "text/plain".to_owned(),
        size: 1,
        sha256: "0".repeat(64),
    };
    let files = [file];
    let with = |value: Value| Verdict::AnsweredWith {
        value,
        files: files.to_vec(),
    };
    for (question, query, value) in [
        (confirm(false), "value=approve", json!("approve")),
        (confirm(false), "verdict=answered&typed=", json!("")),
        (Question::Text, "verdict=answered&value=", json!("")),
        (zones(), "verdict=answered&field.Why=", json!({})),
        (zones(), "verdict=answered&typed=see+there", json!("see there")),
    ] {
        let reading = open_ended(question, query, &files).expect(query);
        assert_eq!(reading.verdict, with(value), "{query}");
    }
    let declined = open_ended(Question::Text, "verdict=declined", &files)
        .expect_err("no answer")
        .of("files");
    assert!(declined[0].contains("a.log"), "{declined:?}");
}
