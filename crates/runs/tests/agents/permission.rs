use countersign_core::runs::AskKind;
use countersign_protocol::runs::{PolicyMode, UpdatePolicy};
use countersign_runs::engine::agents::Resumed;
use countersign_runs::settings::Commands;
use serde_json::json;

use crate::context::TestContext;
use crate::stage::{Task, command_tools, commands, program};

async fn run(rule: Commands, context: &mut TestContext) -> Result<String, String> {
    let agent = program("printf", &["%s", "a b"]);
    Task::new(&agent, "in")
        .done(&command_tools(commands(rule)), context)
        .await
        .map(|done| done.text)
}

fn denying(pattern: &str) -> TestContext {
    let mut context = TestContext::default();
    let change = UpdatePolicy {
        run_id: "run-1".to_owned(),
        tool: None,
        mode: PolicyMode::Write,
        allow: vec![],
        deny: vec![pattern.to_owned()],
        default: None,
    };
    context.policy.update(&change).unwrap();
    context
}

#[tokio::test]
async fn commands_are_off_by_default() {
    let mut context = TestContext::answering(&[&["allow"]]);
    let error = run(Commands::Off, &mut context).await.unwrap_err();
    assert!(
        error.contains("commands are off") && error.contains("runs.commands"),
        "{error}"
    );
    assert!(context.asked.is_empty());
}

#[tokio::test]
async fn a_person_sees_the_command_and_its_input() {
    let mut context = TestContext::answering(&[&["allow"]]);
    assert_eq!(run(Commands::Ask, &mut context).await.unwrap(), "a b");
    let details = json!({"program": "printf", "args": ["%s", "a b"], "cwd": "/", "input": "in", "inputBytes": 2});
    let resource = "printf %s 'a b'".to_owned();
    let ask = AskKind::Permission {
        operation: "command.execute".to_owned(),
        resource,
        details: Some(details),
    };
    assert_eq!(context.asked.len(), 1);
    assert_eq!(context.asked[0].0, [ask]);
    assert!(context.remembered.is_empty());
}

/// The dangerous part is hidden between long harmless parts.
#[tokio::test]
async fn both_ends_of_a_long_input_are_shown_and_hidden_bytes_counted() {
    let details = async |input: &str| {
        let mut context = TestContext::answering(&[&["deny"]]);
        let agent = program("sh", &[]);
        Task::new(&agent, input)
            .done(&command_tools(commands(Commands::Ask)), &mut context)
            .await
            .unwrap_err();
        match &context.asked[0].0[0] {
            AskKind::Permission { details, .. } => details.clone().unwrap(),
            AskKind::Question { .. } | AskKind::Input { .. } => panic!("no permission"),
        }
    };
    let whole = "x".repeat(8192);
    let shown = details(&whole).await;
    assert_eq!((&shown["input"], shown.get("inputTail")), (&json!(whole), None));
    let shown = details(&format!("first {} last", "ä".repeat(5000))).await;
    let text = |name: &str| shown[name].as_str().unwrap().to_owned();
    assert!(
        text("input").starts_with("first ä") && text("inputTail").ends_with("ä last"),
        "{shown}"
    );
    let left_out = 10_011 - text("input").len() - text("inputTail").len();
    assert_eq!(
        (&shown["inputBytes"], &shown["inputBytesNotShown"]),
        (&json!(10_011), &json!(left_out))
    );
    assert!(left_out <= 10_011 - 8192 + 4, "{left_out}");
}

#[tokio::test]
async fn a_denied_command_does_not_run() {
    let mut context = TestContext::answering(&[&["deny"], &["maybe"]]);
    let error = run(Commands::Ask, &mut context).await.unwrap_err();
    assert_eq!(error, "permission was denied for the command printf %s 'a b'");
    let error = run(Commands::Ask, &mut context).await.unwrap_err();
    assert!(error.contains("\"maybe\" is not a valid decision"), "{error}");
    assert_eq!(run(Commands::Ask, &mut context).await.unwrap_err(), "no answer in time");
}

#[tokio::test]
async fn a_decision_for_the_run_is_remembered() {
    let mut context = TestContext::answering(&[&["allow-session"]]);
    for _ in 0..2 {
        assert_eq!(run(Commands::Ask, &mut context).await.unwrap(), "a b");
    }
    assert_eq!(context.asked.len(), 1);
    assert_eq!(context.remembered, [("printf %s 'a b'".to_owned(), true)]);

    let mut context = TestContext::answering(&[&["deny-session"]]);
    assert!(
        run(Commands::Ask, &mut context)
            .await
            .unwrap_err()
            .contains("permission was denied")
    );
    assert!(
        run(Commands::Ask, &mut context)
            .await
            .unwrap_err()
            .contains("the policy of this run denies")
    );
    assert_eq!(context.asked.len(), 1);
}

#[tokio::test]
async fn a_deny_rule_wins_over_the_operator_setting() {
    for rule in [Commands::Ask, Commands::Allow] {
        let mut context = denying("printf");
        let error = run(rule, &mut context).await.unwrap_err();
        assert_eq!(error, "the policy of this run denies the command printf %s 'a b'");
        assert!(context.asked.is_empty());
    }
    assert_eq!(run(Commands::Allow, &mut denying("cat")).await.unwrap(), "a b");
}

#[tokio::test]
async fn an_answer_given_during_a_restart_counts_for_its_own_command_only() {
    let agent = program("printf", &["%s", "a b"]);
    let tools = command_tools(commands(Commands::Ask));
    let mut context = TestContext::default();
    Task::new(&agent, "in").done(&tools, &mut context).await.unwrap_err();
    let state = context.asked[0].1.clone();

    let resumed = Some(Resumed {
        state: state.clone(),
        answers: vec!["allow".to_owned()],
    });
    let mut context = TestContext::default();
    let done = Task {
        resumed,
        ..Task::new(&agent, "in")
    }
    .done(&tools, &mut context)
    .await
    .unwrap();
    assert_eq!(done.text, "a b");
    assert!(context.asked.is_empty());

    let other = program("printf", &["other"]);
    let resumed = Some(Resumed {
        state,
        answers: vec!["allow".to_owned()],
    });
    let mut context = TestContext::answering(&[&["deny"]]);
    let error = Task {
        resumed,
        ..Task::new(&other, "in")
    }
    .done(&tools, &mut context)
    .await
    .unwrap_err();
    assert!(error.contains("permission was denied"), "{error}");
    assert_eq!(context.asked.len(), 1);
}
