//! The message of a run ask, and the answers it accepts.

use countersign_core::message::{Door, RunSource, Source};
use countersign_core::question::{Ask, check_ask};
use countersign_core::runs::ask::content;
use countersign_core::runs::{AskKind, RunAsk};
use countersign_core::{Actor, Content, Payload, Question};
use serde_json::json;

fn ask(kind: AskKind) -> RunAsk {
    RunAsk {
        kind,
        run_id: "r-1".to_owned(),
        agent_name: "editor".to_owned(),
        strategy_name: "Topic writer".to_owned(),
        cwd: "/srv/shop".to_owned(),
        resolvers: vec![Actor::human("ann"), Actor::human("bob")],
    }
}

fn input(prompt: Option<&str>) -> Content {
    content(&ask(AskKind::Input {
        prompt: prompt.map(str::to_owned),
    }))
}

fn permission(operation: &str, resource: &str) -> Content {
    let details = Some(json!({"cwd": "/srv/shop"}));
    content(&ask(AskKind::Permission {
        operation: operation.to_owned(),
        resource: resource.to_owned(),
        details,
    }))
}

fn asked(content: &Content) -> &Ask {
    match &content.payload {
        Payload::Ask(ask) => ask,
        Payload::Task(_) | Payload::Notify => panic!("a run asks"),
    }
}

#[test]
fn the_prompt_is_the_exact_body_and_its_first_line_the_title() {
    let prompt = "\n# Which topic?\n\n  Two words  \n";
    let content = input(Some(prompt));
    assert_eq!(content.title, "Which topic?");
    assert_eq!(content.body.as_deref(), Some(prompt));
    assert_eq!(content.resolvers, [Actor::human("ann"), Actor::human("bob")]);
    assert!(content.check().is_ok());
}

#[test]
fn without_a_prompt_the_title_names_the_agent() {
    for prompt in [None, Some("")] {
        let content = input(prompt);
        assert_eq!(
            (content.title.as_str(), content.body),
            ("editor needs your input", None)
        );
    }
    assert_eq!(input(Some(" \n")).title, "editor needs your input");
    assert_eq!(input(Some(" \n")).body.as_deref(), Some(" \n"));
}

#[test]
fn an_agent_of_a_run_cannot_have_a_registered_id() {
    let agent = input(None).agent;
    assert_eq!(
        (agent.id.as_str(), agent.run_id.as_str(), agent.runtime.as_str()),
        ("editor#r-1", "r-1", "run")
    );
    assert_eq!(agent.project.as_deref(), Some("Topic writer"));
    assert_eq!(agent.labels["cwd"], "/srv/shop");
}

#[test]
fn inputs_and_questions_accept_any_text_even_an_empty_one() {
    let question = content(&ask(AskKind::Question {
        tool_name: "ask_question".to_owned(),
        question: "Blue or\nred?".to_owned(),
    }));
    assert_eq!(
        (question.title.as_str(), question.body.as_deref()),
        ("Blue or", Some("Blue or\nred?"))
    );
    for content in [question, input(Some("Which?"))] {
        let ask = asked(&content);
        assert_eq!(
            (&ask.question, ask.may_respond, ask.may_decline),
            (&Question::Text, true, false)
        );
        for text in ["", "blue", "two\nlines"] {
            assert!(check_ask(ask, &json!(text), false).is_ok());
        }
        assert!(check_ask(ask, &json!("x".repeat(1024 * 1024 + 1)), false).is_err());
    }
}

#[test]
fn a_permission_is_one_of_four_choices() {
    let content = permission("command.execute", "git push --force");
    assert_eq!(content.title, "editor wants to run: git push --force");
    assert_eq!(content.body.as_deref(), Some("```\ngit push --force\n```"));
    assert_eq!(content.context, [json!({"kind": "data", "data": {"cwd": "/srv/shop"}})]);
    assert!(content.check().is_ok());
    let ask = asked(&content);
    let Question::Select {
        options,
        allow_edit: false,
        many: false,
    } = &ask.question
    else {
        panic!("a choice")
    };
    let values: Vec<&str> = options.iter().map(|option| option.value.as_str()).collect();
    assert_eq!(values, ["allow", "deny", "allow-session", "deny-session"]);
    assert!(values.iter().all(|value| check_ask(ask, &json!(value), false).is_ok()));
    assert!(
        ["", "approve"]
            .iter()
            .all(|value| check_ask(ask, &json!(value), false).is_err())
    );
    for option in options.iter().filter(|option| option.value.ends_with("-session")) {
        let text = option.description.as_deref().unwrap_or_default();
        assert!(
            text.ends_with("whatever input it is given"),
            "what holds for the run is said in words: {text:?}"
        );
    }
}

#[test]
fn hidden_input_bytes_are_mentioned_before_the_command() {
    let details = Some(json!({"input": "a", "inputTail": "z", "inputBytes": 9000, "inputBytesNotShown": 808}));
    let kind = AskKind::Permission {
        operation: "command.execute".to_owned(),
        resource: "sh".to_owned(),
        details,
    };
    let text = "It is given 9000 bytes of input. **808 of them, in the middle, are not shown.**\n\n```\nsh\n```";
    assert_eq!(content(&ask(kind)).body.as_deref(), Some(text));
}

#[test]
fn a_resource_cannot_escape_its_code_block() {
    let body = permission("fs.write", "a\n````\n# Harmless").body.expect("a body");
    assert!(
        body.starts_with("`````\na\n") && body.ends_with("Harmless\n`````"),
        "{body}"
    );
}

#[test]
fn titles_and_bodies_are_bounded() {
    let long = "é".repeat(400_000);
    for content in [input(Some(&long)), permission("fs.read", &long), permission(&long, "x")] {
        assert_eq!(content.title.chars().count(), 120);
        assert!(content.body.is_some_and(|body| body.len() < 300_000));
    }
}

#[test]
fn the_event_of_an_ask_has_its_question_and_protocol_id() {
    let kinds = [
        (
            AskKind::Input {
                prompt: Some("Which?".to_owned()),
            },
            json!({"type": "request_input", "agentName": "editor", "prompt": "Which?", "inputId": "i-1"}),
        ),
        (
            AskKind::Question {
                tool_name: "ask_question".to_owned(),
                question: "Why?".to_owned(),
            },
            json!({"type": "request_question", "requestId": "i-1", "agentName": "editor", "toolName": "ask_question",
                "question": "Why?"}),
        ),
        (
            AskKind::Permission {
                operation: "fs.read".to_owned(),
                resource: "x".to_owned(),
                details: Some(json!({"cwd": "/"})),
            },
            json!({"type": "request_permission", "requestId": "i-1", "agentName": "editor", "toolName": "command",
                "operation": "fs.read", "resource": "x", "reason": "policy-ask", "details": {"cwd": "/"}}),
        ),
    ];
    for (kind, event) in kinds {
        assert_eq!(json!(kind.event("editor", "i-1")), event);
    }
}

#[test]
fn the_source_names_the_run_with_protocol_ids() {
    let source = Source::Runs(RunSource {
        agent_name: "editor".to_owned(),
        ask: "question".to_owned(),
        input_id: "i-1".to_owned(),
        run_id: "r-1".to_owned(),
        strategy: "Topic writer".to_owned(),
    });
    assert_eq!(source.door(), Door::Runs);
    let expected = json!({"door": "runs", "runId": "r-1", "agentName": "editor", "strategy": "Topic writer",
        "ask": "question", "inputId": "i-1"});
    assert_eq!(json!(source), expected);
}
