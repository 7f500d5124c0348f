//! A script asks, waits, and branches on the exit code.

use serde_json::json;

use super::{asked, message_id, messages, stage};

const CONFIRM: &[&str] = &["ask", "Ship to production?", "--confirm"];

#[tokio::test(flavor = "multi_thread")]
async fn the_exit_code_tells_yes_from_no() {
    let (hub, _bot, terminal) = stage().await;
    for (value, code) in [("approve", 0), ("deny", 10)] {
        let (process, id) = asked(&terminal, CONFIRM).await;
        hub.owner.answer(&id, value).await.expect(200);
        let ran = process.finish();
        assert_eq!(
            (ran.code, ran.stdout.as_str()),
            (code, format!("{value}\n").as_str()),
            "{ran:?}"
        );
        let page = format!("{}/inbox/items/{id}", hub.url.replace("127.0.0.1", "localhost"));
        let notice = format!("Waiting for owner. Answer at {page} (Ctrl-C is safe; resume with `countersign wait {id}");
        assert!(ran.stderr.starts_with(&notice), "who, where and how to resume: {ran:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_question_without_a_kind_is_answered_with_a_text() {
    let (hub, _bot, terminal) = stage().await;
    let (process, id) = asked(&terminal, &["ask", "What tone should the release notes have?"]).await;
    let answered = hub.cli(&["answer", &id, "dry wit"]).ok();
    assert!(
        answered.starts_with("\"What tone should"),
        "it names what was answered: {answered}"
    );
    let ran = process.finish();
    assert_eq!((ran.code, ran.stdout.as_str()), (0, "dry wit\n"), "{ran:?}");
    let again = terminal.run(&["wait", &id]);
    assert_eq!((again.code, again.stdout.as_str()), (0, "dry wit\n"), "{again:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_declined_ask_has_its_own_exit_code_and_no_value() {
    let (hub, _bot, terminal) = stage().await;
    let (process, id) = asked(&terminal, CONFIRM).await;
    hub.owner
        .resolve(&id, json!({"resolution": "declined", "comment": "not mine to say"}))
        .await
        .expect(200);
    let ran = process.finish();
    assert_eq!((ran.code, ran.stdout.as_str()), (11, ""), "{ran:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_expired_ask_never_looks_like_an_answer() {
    let (_hub, _bot, terminal) = stage().await;
    let bare = ["--expires", "5s"];
    let with_default = ["--expires", "5s", "--default", "approve"];
    for (args, value) in [(&bare[..], json!(null)), (&with_default[..], json!("approve"))] {
        let ran = terminal.run(&[CONFIRM, args, &["--json"]].concat());
        assert_eq!(ran.code, 12, "{ran:?}");
        let output: serde_json::Value = serde_json::from_str(&ran.stdout).expect("one JSON object");
        assert_eq!(output["resolution"], "expired", "{output}");
        assert_eq!(output["value"], value, "{output}");
        assert_eq!(
            output["defaulted"].as_bool().unwrap_or(false),
            !value.is_null(),
            "{output}"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn cancelling_an_ask_ends_the_waiting_command() {
    let (hub, bot, terminal) = stage().await;
    let (process, id) = asked(&terminal, CONFIRM).await;
    terminal.run(&["cancel", &id]).ok();
    let ran = process.finish();
    assert_eq!((ran.code, ran.stdout.as_str()), (13, ""), "{ran:?}");
    assert_eq!(bot.pull(&id).await["status"], "cancelled");
    hub.owner
        .answer(&id, "approve")
        .await
        .refused_as_terminal(&id, "cancelled");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_late_cancel_reports_the_real_outcome() {
    let (hub, _bot, terminal) = stage().await;
    let id = message_id(&terminal.run(&[CONFIRM, &["--detach"]].concat()).ok());
    hub.owner.answer(&id, "deny").await.expect(200);
    let ran = terminal.run(&["cancel", &id, "--json"]);
    assert_eq!(ran.code, 1, "nothing was cancelled: {ran:?}");
    assert!(
        ran.stdout.contains("deny") && ran.stderr.contains("answered by owner"),
        "{ran:?}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_timeout_ends_the_wait_and_leaves_the_ask_open() {
    let (hub, bot, terminal) = stage().await;
    let ran = terminal.run(&[CONFIRM, &["--timeout", "5s", "--key", "ship-17"]].concat());
    assert_eq!((ran.code, ran.stdout.as_str()), (14, ""), "{ran:?}");
    let id = message_id(&ran.stderr);
    assert_eq!(bot.pull(&id).await["status"], "open");
    assert_eq!(terminal.run(&["wait", &id, "--timeout", "1s"]).code, 14);

    let waiting = terminal.start(&["wait", &id]);
    hub.owner.answer(&id, "approve").await.expect(200);
    assert_eq!(waiting.finish().ok(), "approve\n");
    assert_eq!(
        terminal.run(&["wait", "ship-17"]).ok(),
        "approve\n",
        "the key will do as well"
    );
    assert_eq!(messages(&bot).await, 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_interrupted_wait_leaves_the_ask_open() {
    let (hub, bot, terminal) = stage().await;
    let (mut process, id) = asked(&terminal, CONFIRM).await;
    process.signal("INT");
    assert!(!process.join().success());
    assert_eq!(bot.pull(&id).await["status"], "open");
    hub.owner.answer(&id, "deny").await.expect(200);
    assert_eq!(terminal.run(&["wait", &id]).code, 10);
}

#[tokio::test(flavor = "multi_thread")]
async fn json_output_is_a_single_object() {
    let (hub, _bot, terminal) = stage().await;
    let (process, id) = asked(&terminal, &[CONFIRM, &["--json", "--key", "ship-18"]].concat()).await;
    let body = json!({"resolution": "answered", "value": "approve", "comment": "go ahead"});
    let resolution_id = hub.owner.resolve(&id, body).await.expect(200)["resolution_id"].clone();
    let output = process.finish().json();
    for (name, value) in [
        ("id", json!(id)),
        ("idempotency_key", json!("ship-18")),
        ("status", json!("answered")),
        ("resolution", json!("answered")),
        ("value", json!("approve")),
        ("actor", json!("human:owner")),
        ("comment", json!("go ahead")),
        ("resolution_id", resolution_id),
    ] {
        assert_eq!(output[name], value, "{name} of {output}");
    }
    assert!(output["resolved_at"].is_string(), "{output}");
    let fields = output.as_object().expect("an object");
    assert!(
        fields.values().all(|value| !value.is_null()),
        "no field says nothing: {output}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_waiting_command_survives_a_hub_restart() {
    let (mut hub, _bot, terminal) = stage().await;
    let (process, id) = asked(&terminal, CONFIRM).await;
    hub.kill();
    hub.restart().await;
    hub.owner.answer(&id, "approve").await.expect(200);
    assert_eq!(process.finish().ok(), "approve\n");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_ask_that_no_person_can_answer_is_sent_with_a_warning() {
    let (_hub, _bot, terminal) = stage().await;
    let ask = |to: &'static str| {
        let ran = terminal.run(&["ask", "Ship?", "--confirm", "--detach", "--to", to]);
        assert_eq!(ran.code, 0, "{ran:?}");
        ran.stderr
    };
    let warned = ask("agent:acme/deployer");
    assert!(
        warned.contains("warning: ") && warned.contains("no person can answer"),
        "{warned}"
    );
    assert!(!ask("human:owner").contains("warning: "));
}
