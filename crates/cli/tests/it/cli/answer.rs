use serde_json::{Value, json};

use crate::harness::*;

async fn answered(hub: &Hub, bot: &Agent, envelope: Value, args: &[&str]) -> Value {
    let id = bot.accepted(&envelope).await;
    let arguments: Vec<&str> = ["answer", &id].into_iter().chain(args.iter().copied()).collect();
    hub.cli(&arguments).ok();
    bot.outcome(&id).await["response"].clone()
}

#[tokio::test(flavor = "multi_thread")]
async fn every_kind_of_question_can_be_answered() {
    let hub = Hub::start().await;
    let bot = hub.agent("bot").await;
    let mut editable = ma2h(select("bot"), "0.6");
    editable["request"]["permissions"] = json!({"allow_edit": true});
    for (envelope, args, resolution, value) in [
        (ask("bot"), &["approve"][..], "answered", json!("approve")),
        (ask("bot"), &["deny", "--comment", "not yet"], "answered", json!("deny")),
        (select("bot"), &["green"], "answered", json!("green")),
        (
            editable,
            &["--text", "purple, please"],
            "answered",
            json!("purple, please"),
        ),
        (
            input("bot"),
            &[r#"{"reason":"tests pass","retries":2}"#],
            "answered",
            json!({"reason": "tests pass", "retries": 2}),
        ),
        (ask("bot"), &["--decline"], "declined", json!(null)),
        (
            task("bot"),
            &["--complete", "--open-steps", "--comment", "done"],
            "completed",
            json!(null),
        ),
        (task("bot"), &["--dismiss"], "dismissed", json!(null)),
        (ask("bot"), &["--skip"], "declined", json!(null)),
        (
            task("bot"),
            &["--done", "--check", "1", "--check", "2"],
            "completed",
            json!(null),
        ),
        (task("bot"), &["--cant-do"], "dismissed", json!(null)),
    ] {
        let response = answered(&hub, &bot, envelope, args).await;
        assert_eq!(response["resolution"], resolution, "{args:?}");
        assert_eq!(response["response"]["value"], value, "{args:?}");
        assert_eq!(response["response"]["actor"], "human:owner");
        if let Some(at) = args.iter().position(|&arg| arg == "--comment") {
            assert_eq!(response["response"]["comment"], args[at + 1]);
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_row_number_means_the_item_that_was_printed_there() {
    let hub = Hub::start().await;
    let bot = hub.agent("bot").await;
    let printed = bot.accepted(&ask("bot")).await;
    let output = hub.cli(&["answer", "1", "approve"]).fails(1);
    assert!(output.contains("inbox --table"), "no table yet: {output}");
    let table = hub.cli(&["inbox"]).ok();
    let row = table.lines().nth(1).unwrap();
    assert!(
        row.starts_with(&format!("1  {printed}")) && row.ends_with('–'),
        "{table}"
    );
    let mut urgent = ask("bot");
    urgent["priority"] = json!("urgent");
    let arrived = bot.accepted(&urgent).await;
    assert_eq!(hub.cli(&["show", "1", "--json"]).json()["id"], printed);
    hub.cli(&["answer", "1", "approve"]).ok();
    assert_eq!(bot.pull(&printed).await["status"], "answered");
    assert_eq!(bot.pull(&arrived).await["status"], "open", "it is the first row now");
    let output = hub.cli(&["answer", "1", "approve"]).fails(1);
    assert!(
        output.contains("already approved"),
        "the number keeps its meaning: {output}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn an_item_is_named_by_prefix_by_last_or_not_at_all() {
    let hub = Hub::start().await;
    let bot = hub.agent("bot").await;
    let output = hub.cli(&["answer", "yes"]).fails(1);
    assert!(output.contains("nothing waits"), "{output}");
    let first = bot.accepted(&ask("bot")).await;
    hub.cli(&["answer", "yes"]).ok();
    assert_eq!(bot.pull(&first).await["status"], "answered");
    let second = bot.accepted(&ask("bot")).await;
    let third = bot.accepted(&ask("bot")).await;
    let output = hub.cli(&["answer", "yes"]).fails(1);
    assert!(output.contains("2 items wait for you"), "{output}");
    let output = hub.cli(&["answer", "msg_0", "yes"]).fails(1);
    assert!(output.contains("2 waiting items begin with msg_0"), "{output}");
    hub.cli(&["answer", "last", "no"]).ok();
    assert_eq!(bot.pull(&third).await["response"]["response"]["value"], "deny");
    hub.cli(&["answer", &second[..12], "yes"]).ok();
    assert_eq!(bot.pull(&second).await["response"]["response"]["value"], "approve");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_json_of_an_answer_shows_its_outcome() {
    let hub = Hub::start().await;
    let bot = hub.agent("bot").await;
    let id = bot.accepted(&ask("bot")).await;
    let output = hub.cli(&["answer", &id, "approve", "--json"]).json();
    let response = bot.pull(&id).await["response"].clone();
    assert_eq!(
        output,
        json!({"id": id, "status": "answered", "resolution_id": response["resolution_id"]})
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn an_invalid_answer_is_an_error_and_changes_nothing() {
    let hub = Hub::start().await;
    let bot = hub.agent("bot").await;
    let id = bot.accepted(&select("bot")).await;
    hub.cli(&["answer", &id, "purple"]).fails(1);
    hub.cli(&["answer", &id, "--text", "purple"]).fails(1);
    hub.cli(&["answer", &id, "--complete"]).fails(1);
    hub.cli(&["answer", &id]).fails(2);
    hub.cli(&["answer", &id, "blue", "--decline"]).fails(2);
    let form = bot.accepted(&input("bot")).await;
    let output = hub.cli(&["answer", &form, r#"{"retries":1}"#]).fails(1);
    assert!(output.contains("reason"), "it names what is missing: {output}");
    assert_eq!(bot.pull(&id).await["status"], "open");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_task_with_open_steps_stays_open_until_they_are_ticked_or_accepted() {
    let hub = Hub::start().await;
    let bot = hub.agent("bot").await;
    let id = bot.accepted(&task("bot")).await;
    let output = hub.cli(&["answer", &id, "--done", "--check", "1"]).fails(1);
    assert!(output.contains("1 of 2 steps is open: 2 (announce)"), "{output}");
    assert_eq!(bot.pull(&id).await["status"], "open");
    hub.cli(&["answer", &id, "--done", "--check", "1", "--open-steps"]).ok();
    let steps = json!([{"text": "rotate", "done": true}, {"text": "announce", "done": false}]);
    assert_eq!(bot.pull(&id).await["response"]["response"]["checklist"], steps);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_second_answer_is_refused_with_the_first_outcome() {
    let hub = Hub::start().await;
    let bot = hub.agent("bot").await;
    let id = bot.accepted(&ask("bot")).await;
    hub.cli(&["answer", &id, "approve"]).ok();
    let output = hub.cli(&["answer", &id, "deny"]).fails(1);
    assert!(output.contains("already approved by owner"), "{output}");
    hub.cli(&["answer", "msg_00000000000000000000000000", "approve"])
        .fails(1);
}
