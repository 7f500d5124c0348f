//! Translation of cues into questions, and of answers into text.

#![cfg(test)]

use countersign_core::hap::{Cue, Terminal, content, digest, reply, source};
use countersign_core::message::{FileNote, Resolution};
use countersign_core::question::Ask;
use countersign_core::{Actor, Content, Outcome, Payload, Question, form};
use countersign_protocol::hap::CueKind;
use countersign_protocol::time::Timestamp;
use serde_json::{Value, json};

fn terminal() -> Terminal {
    Terminal {
        agent_id: "bamolodo".to_owned(),
        runtime: "claude_code".to_owned(),
        project_dir: "/home/ann/shop/".to_owned(),
        terminal: "zsh".to_owned(),
    }
}

fn cue(payload: Value) -> Cue {
    Cue {
        kind: CueKind::Cue,
        prompt: "# Ship it?\nAll green.".to_owned(),
        payload: payload.as_object().cloned(),
    }
}

fn shown(cue: &Cue) -> Content {
    content(cue, &terminal(), "ann")
}

fn ask(content: &Content) -> &Ask {
    match &content.payload {
        Payload::Ask(ask) => ask,
        Payload::Task(_) | Payload::Notify => panic!("a cue is an ask"),
    }
}

fn answered(value: Value) -> Resolution {
    Resolution {
        id: format!("res_{:026}", 1).parse().expect("an id"),
        outcome: Outcome::Answered,
        defaulted: false,
        value: Some(value),
        edited: false,
        actor: Actor::human("ann"),
        resolved_at: Timestamp::from_millis(1),
        comment: None,
        checklist: None,
        files: Vec::new(),
    }
}

fn text(payload: Value, value: Value) -> String {
    reply(&shown(&cue(payload)), &answered(value)).text
}

#[test]
fn a_cue_shows_its_agent_project_and_prompt() {
    let content = shown(&cue(Value::Null));
    assert_eq!(content.title, "Ship it?");
    assert_eq!(content.body.as_deref(), Some("# Ship it?\nAll green."));
    assert_eq!(
        (content.agent.id.as_str(), content.agent.project.as_deref()),
        ("bamolodo", Some("shop"))
    );
    assert_eq!(content.resolvers, [Actor::human("ann")]);
    assert_eq!(ask(&content).question, Question::Text);
    assert!(ask(&content).open_ended);
    assert_eq!(source(&cue(Value::Null), &terminal()).project_dir, "/home/ann/shop/");
}

#[test]
fn each_payload_becomes_the_matching_question() {
    let one = shown(&cue(json!({"type": "choice", "options": ["a", "b"]})));
    assert!(matches!(&ask(&one).question, Question::Select { many: false, options, .. } if options.len() == 2));
    let many = shown(&cue(
        json!({"type": "choice", "options": ["a"], "allow_multiple": true}),
    ));
    assert!(matches!(&ask(&many).question, Question::Select { many: true, .. }));
    let confirm = shown(&cue(json!({"type": "confirm", "text": "Really?", "cancel_label": ""})));
    assert!(matches!(&ask(&confirm).question, Question::Confirm { options, .. } if options.len() == 1));
    assert!(
        confirm
            .body
            .as_deref()
            .is_some_and(|body| body.ends_with("\n\nReally?"))
    );
    let unknown = cue(json!({"type": "poll", "x": [1]}));
    assert_eq!(
        shown(&unknown).context,
        [json!({"kind": "data", "data": {"type": "poll", "x": [1]}})]
    );
    assert!(unknown.warning().is_some_and(|warning| warning.contains("poll")));
}

#[test]
fn a_form_keeps_field_order_and_unique_names() {
    let fields = json!([
        {"label": "Zone", "options": ["eu", "us"], "allow_multiple": true}, {"label": "Amount"}, {"label": "Amount"},
    ]);
    let payload = json!({"type": "form", "fields": fields});
    let content = shown(&cue(payload.clone()));
    let Question::Form { schema } = &ask(&content).question else {
        panic!("a form")
    };
    let names: Vec<String> = form::fields(schema).into_iter().map(|field| field.name).collect();
    assert_eq!(names, ["Zone", "Amount", "Amount (2)"]);
    let value = json!({"Amount": "3", "Zone": ["eu", "us"]});
    assert_eq!(text(payload, value), "Zone: eu, us\nAmount: 3");
}

#[test]
fn the_agent_gets_labels_or_the_typed_text() {
    let confirm = json!({"type": "confirm", "confirm_label": "Ship", "cancel_label": "Hold"});
    assert_eq!(text(confirm.clone(), json!("approve")), "Ship");
    assert_eq!(text(confirm.clone(), json!("deny")), "Hold");
    assert_eq!(text(confirm, json!("only on Monday")), "only on Monday");
    let many = json!({"type": "choice", "options": ["a", "b", "c"], "allow_multiple": true});
    assert_eq!(text(many, json!(["c", "a"])), "c\na");
    assert_eq!(
        text(json!({"type": "form", "fields": [{}]}), json!("skip it")),
        "skip it"
    );
    assert_eq!(text(Value::Null, json!("go on")), "go on");
}

#[test]
fn a_decline_has_only_a_comment_and_files_keep_their_names() {
    let content = shown(&cue(Value::Null));
    let declined = Resolution {
        outcome: Outcome::Declined,
        value: None,
        comment: Some("not today".to_owned()),
        ..answered(Value::Null)
    };
    let text = reply(&content, &declined);
    assert_eq!((text.text.as_str(), text.comment.as_deref()), ("", Some("not today")));
    let note = FileNote {
        name: "a b.txt".to_owned(),
        media_type: "text/plain".to_owned(),
        size: 1,
        sha256: String::new(),
    };
    assert_eq!(
        reply(
            &content,
            &Resolution {
                files: vec![note.clone()],
                ..answered(json!(""))
            }
        )
        .files,
        [note]
    );
}

#[test]
fn a_pause_offers_a_continue_button() {
    let pause = Cue {
        kind: CueKind::Pause,
        prompt: String::new(),
        payload: None,
    };
    let content = shown(&pause);
    assert!(!content.title.is_empty());
    assert_eq!(reply(&content, &answered(json!("approve"))).text, "Continue");
    assert_ne!(
        digest(&pause),
        digest(&Cue {
            kind: CueKind::Cue,
            ..pause.clone()
        })
    );
}

#[test]
fn a_long_prompt_is_cut_at_a_character_boundary() {
    let long = Cue {
        kind: CueKind::Cue,
        prompt: "é".repeat(3_000_000),
        payload: None,
    };
    let content = shown(&long);
    assert!(
        content
            .body
            .as_ref()
            .is_some_and(|body| body.len() < 300_000 && body.contains("more bytes"))
    );
    assert_eq!(content.title.chars().count(), 120);
}
