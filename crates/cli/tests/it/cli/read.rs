use serde_json::{Value, json};

use crate::harness::*;

#[tokio::test(flavor = "multi_thread")]
async fn the_json_inbox_is_a_list_of_open_items() {
    let hub = Hub::start().await;
    let bot = hub.agent("bot").await;
    assert_eq!(hub.cli(&["inbox", "--json"]).json(), json!([]));
    let mut envelope = ma2h(select("bot"), "0.6");
    envelope["agent"]["project"] = json!("site");
    let id = bot.accepted(&envelope).await;
    bot.accepted(&notify("bot")).await;
    let inbox = hub.cli(&["inbox", "--json"]).json();
    assert_eq!(inbox.as_array().map(Vec::len), Some(1), "{inbox}");
    bot.accepted(&ask("bot")).await;
    assert_eq!(
        hub.cli(&["inbox", "--json", "--limit", "1"]).json(),
        inbox,
        "the first one only"
    );
    let item = &inbox[0];
    assert_eq!(item["id"], id);
    assert_eq!(item["type"], "ask");
    assert_eq!(item["status"], "open");
    assert_eq!([&item["title"], &item["body"]], [&envelope["title"], &envelope["body"]]);
    assert_eq!(
        item["agent"],
        json!({"id": "bot", "run_id": "run-1", "runtime": "cli", "project": "site"})
    );
    assert_eq!(item["question"]["kind"], "select");
    assert_eq!(item["question"]["options"], envelope["request"]["options"]);
    assert_eq!(
        item["source"],
        json!({"door": "a2h", "family": "ma2h", "version": "0.6", "run_id": "run-1"})
    );
    assert_eq!(item["priority"], "normal");
    assert_eq!(item["resolvers"], json!(["human:owner"]));
    assert_eq!(
        [&item["can_answer"], &item["resolution"], &item["delivery"]],
        [&json!(true), &json!(null), &json!(null)]
    );
    assert_eq!([&item["expires_at"], &item["action"]], [&json!(null), &json!(null)]);
}

#[tokio::test(flavor = "multi_thread")]
async fn items_show_the_question_or_the_action_in_one_shape() {
    let hub = Hub::start().await;
    let bot = hub.agent("bot").await;
    let shown = async |envelope: Value| hub.cli(&["show", &bot.accepted(&envelope).await, "--json"]).json();
    let confirm = shown(ask("bot")).await;
    assert_eq!(confirm["question"]["kind"], "confirm");
    assert_eq!(confirm["question"]["options"].as_array().map(Vec::len), Some(2));
    let form = shown(input("bot")).await;
    assert_eq!(
        form["question"],
        json!({"kind": "form", "schema": input("bot")["request"]["schema"]})
    );
    let task = shown(task("bot")).await;
    assert_eq!(task["question"], json!(null));
    assert_eq!(task["action"]["instructions"], "Rotate the key.");
    assert_eq!(task["action"]["checklist"].as_array().map(Vec::len), Some(2));
}

#[tokio::test(flavor = "multi_thread")]
async fn people_can_read_the_inbox_and_a_message() {
    let hub = Hub::start().await;
    let bot = hub.agent("bot").await;
    let mut envelope = select("bot");
    envelope["context"] = json!([{"kind": "text", "text": "the diff"}]);
    let id = bot.accepted(&envelope).await;
    let inbox = hub.cli(&["inbox"]).ok();
    assert!(inbox.contains(&id) && inbox.contains("Deploy build 42?"), "{inbox}");
    let shown = hub.cli(&["show", &id]).ok();
    for text in [
        "Deploy build 42?",
        "All checks are green.",
        "the diff",
        "Blue",
        "green",
        "the one with leaves",
        "bot",
    ] {
        assert!(shown.contains(text), "{text:?} is missing: {shown}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn private_agent_fields_are_never_shown() {
    let hub = Hub::start().await;
    let bot = hub.agent("bot").await;
    let mut envelope = ask("bot");
    envelope["state"] = json!({"x": "MARK-STATE"});
    envelope["client_ref"] = json!("MARK-REF");
    envelope["idempotency_key"] = json!("MARK-KEY");
    let id = bot.accepted(&envelope).await;
    let mut shown = String::new();
    for _ in 0..2 {
        for args in [
            &["inbox"][..],
            &["inbox", "--json"],
            &["show", &id],
            &["show", &id, "--json"],
        ] {
            shown += &hub.cli(args).ok();
        }
        hub.owner.answer(&id, "approve").await;
    }
    assert!(!shown.contains("MARK"), "{shown}");
}

#[tokio::test(flavor = "multi_thread")]
async fn control_characters_never_reach_the_terminal() {
    let hub = Hub::start().await;
    let bot = hub.agent("bot").await;
    let evil = "\u{1b}[2J\u{1b}]0;owned\u{7}\r\u{8}\u{9b}31m\u{202e}";
    let mut envelope = select("bot");
    envelope["title"] = json!(format!("title {evil}"));
    envelope["body"] = json!(format!("body {evil}\nsecond line"));
    envelope["tags"] = json!([evil]);
    envelope["context"] = json!([{"kind": "text", "text": evil}, {"kind": "data", "data": {"k": evil}}]);
    envelope["agent"]["run_id"] = json!(evil);
    envelope["agent"]["project"] = json!(evil);
    envelope["request"]["options"][0] = json!({"value": format!("v{evil}"), "label": evil, "description": evil});
    let id = bot.accepted(&envelope).await;
    let mut shown = hub.cli(&["inbox"]).ok() + &hub.cli(&["show", &id]).ok();
    hub.owner
        .resolve(&id, json!({"resolution": "declined", "comment": evil}))
        .await
        .expect(200);
    shown += &hub.cli(&["show", &id]).ok();
    let failed = hub.cli(&["show", "msg_\u{1b}[31m"]);
    assert_ne!(failed.code, 0);
    shown += &failed.stderr;
    let control = shown
        .chars()
        .find(|&c| (c.is_control() && c != '\n') || c == '\u{202e}');
    assert_eq!(control, None, "{shown:?}");
    assert!(shown.contains("second line"));
}
