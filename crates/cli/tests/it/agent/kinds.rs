//! Every kind of message that the commands can send: how a person sees it, and how its answer is printed.

use serde_json::{Value, json};

use super::{asked, message_id, open_items, stage};
use crate::harness::*;

async fn item(hub: &Hub, id: &str) -> Value {
    hub.owner.get(&format!("/v1/inbox/{id}")).await.expect(200)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_select_prints_the_chosen_value() {
    let (hub, _bot, terminal) = stage().await;
    let ask = [
        "ask",
        "Which region?",
        "--select",
        "eu=Europe",
        "--select",
        "us=United States",
        "--tag",
        "infra",
    ];
    let (process, id) = asked(&terminal, &ask).await;
    let shown = item(&hub, &id).await.to_string();
    assert!(
        shown.contains("Europe") && shown.contains("United States") && shown.contains("infra"),
        "{shown}"
    );
    hub.cli(&["answer", &id, "us"]).ok();
    assert_eq!(process.finish().ok(), "us\n");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_form_prints_json() {
    let (hub, _bot, terminal) = stage().await;
    let schema = json!({
        "type": "object",
        "properties": {"reason": {"type": "string"}, "retries": {"type": "integer"}},
        "required": ["reason"],
    });
    let schema = hub.scratch().write("schema.json", &schema.to_string());
    let (process, id) = asked(&terminal, &["ask", "Why?", "--form", schema.to_str().unwrap()]).await;
    hub.cli(&["answer", &id, r#"{"reason":"green","retries":2}"#]).ok();
    assert_eq!(process.finish().json(), json!({"reason": "green", "retries": 2}));
}

#[tokio::test(flavor = "multi_thread")]
async fn labels_body_and_context_reach_the_person() {
    let (hub, _bot, terminal) = stage().await;
    let body = hub.scratch().write("body.md", "All **green**.");
    let log = hub.scratch().write("log.txt", "42 passed");
    let args = [
        "ask",
        "Ship?",
        "--confirm",
        "--yes",
        "Ship it",
        "--no",
        "Hold it",
        "--priority",
        "high",
        "--body-file",
        body.to_str().unwrap(),
        "--context",
        log.to_str().unwrap(),
    ];
    let (process, id) = asked(&terminal, &args).await;
    let shown = item(&hub, &id).await.to_string();
    for wanted in ["Ship it", "Hold it", "high", "All **green**.", "42 passed"] {
        assert!(shown.contains(wanted), "{wanted} is not in {shown}");
    }
    hub.cli(&["answer", &id, "Hold it"]).ok();
    assert_eq!(process.finish().code, 10, "no is the second choice, with any label");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_task_returns_its_checklist() {
    let (hub, _bot, terminal) = stage().await;
    let task = [
        "task",
        "Renew the certificate",
        "--instructions",
        "By hand.",
        "--checklist",
        "renew",
        "--checklist",
        "tell",
    ];
    let (process, id) = asked(&terminal, &[&task[..], &["--json"]].concat()).await;
    let ticks = ["--complete", "--check", "1", "--open-steps", "--comment", "done"];
    hub.cli(&[&["answer", &id], &ticks[..]].concat()).ok();
    let output = process.finish().json();
    assert_eq!(
        [&output["resolution"], &output["comment"]],
        [&json!("completed"), &json!("done")]
    );
    let done: Vec<bool> = output["checklist"]
        .as_array()
        .expect("a checklist")
        .iter()
        .map(|it| it["done"] == true)
        .collect();
    assert_eq!(done, [true, false], "{output}");

    let (process, id) = asked(&terminal, &task).await;
    hub.cli(&["answer", &id, "--dismiss"]).ok();
    assert_eq!(process.finish().code, 11);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_notify_returns_at_once() {
    let (hub, bot, terminal) = stage().await;
    let output = terminal
        .run(&["notify", "Shipped 1.7", "--body", "No errors so far."])
        .ok();
    let id = message_id(&output);
    let message = bot.pull(&id).await;
    assert_eq!(
        [&message["type"], &message["status"]],
        [&json!("notify"), &json!("delivered")],
        "{message}"
    );
    assert_eq!(message["title"], "Shipped 1.7");
    assert_eq!(open_items(&hub).await, 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_message_names_its_agent_and_run() {
    let (_hub, bot, terminal) = stage().await;
    let ask = [
        "ask",
        "Ship?",
        "--confirm",
        "--detach",
        "--run",
        "build-17",
        "--to",
        "human:owner",
        "--sensitive",
    ];
    let id = message_id(&terminal.run(&ask).ok());
    let message = bot.pull(&id).await;
    assert_eq!(
        [&message["agent"]["id"], &message["agent"]["run_id"]],
        [&json!("acme/deployer"), &json!("build-17")]
    );
    assert_eq!(message["request"]["allowed_resolvers"], json!(["human:owner"]));
    assert_eq!(message["sensitive"], true, "{message}");
}
