//! The shipped examples do what their comments promise.

use std::path::PathBuf;

use serde_json::json;

use super::action_log::ActionLog;
use super::receive::ReceiverSetup;
use super::{message_id, messages, stage};
use crate::harness::*;

fn example(name: &str) -> String {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    root.join(name).display().to_string()
}

/// Waits for the only message in the inbox and returns its id.
async fn only_open(hub: &Hub) -> String {
    eventually("something is asked", async || {
        let inbox = hub.owner.get("/v1/inbox").await.expect(200);
        inbox["items"][0]["id"].as_str().map(str::to_owned)
    })
    .await
}

#[tokio::test(flavor = "multi_thread")]
async fn the_gate_runs_the_command_once_after_a_yes() {
    let (hub, bot, terminal) = stage().await;
    let action_log = ActionLog::new(&hub);
    let command = action_log.command();
    let args: Vec<&str> = ["1.7"].into_iter().chain(command.iter().map(String::as_str)).collect();
    let gate = terminal.start_program(&example("gate.sh"), &args);
    let id = only_open(&hub).await;
    hub.owner.answer(&id, "approve").await.expect(200);
    let ran = gate.finish();
    assert_eq!(ran.code, 0, "{ran:?}");
    assert_eq!(terminal.start_program(&example("gate.sh"), &args).finish().code, 0);
    assert_eq!(action_log.ids(), [id]);
    assert_eq!(messages(&bot).await, 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_gate_stays_shut_without_a_yes() {
    let (hub, _bot, terminal) = stage().await;
    let action_log = ActionLog::new(&hub);
    let command = action_log.command();
    for (nth, (body, code)) in [
        (json!({"resolution": "answered", "value": "deny"}), 10),
        (json!({"resolution": "declined"}), 11),
    ]
    .into_iter()
    .enumerate()
    {
        let version = format!("1.{nth}");
        let args: Vec<&str> = [version.as_str()]
            .into_iter()
            .chain(command.iter().map(String::as_str))
            .collect();
        let gate = terminal.start_program(&example("gate.sh"), &args);
        let id = only_open(&hub).await;
        hub.owner.resolve(&id, body).await.expect(200);
        assert_eq!(gate.finish().code, code);
    }
    let soon = terminal.env("GATE_EXPIRES", "2s");
    let args: Vec<&str> = ["2.0"].into_iter().chain(command.iter().map(String::as_str)).collect();
    assert_eq!(soon.start_program(&example("gate.sh"), &args).finish().code, 12);
    assert_eq!(action_log.done().len(), 0);
}

/// A fake GitHub for the dispatch script: the pushed answer starts a job, which pulls the answer and ships.
#[tokio::test(flavor = "multi_thread")]
async fn the_callback_starts_the_job_that_ships() {
    let setup = ReceiverSetup::open().await;
    let github = Receiver::start().await;
    let terminal = setup
        .terminal
        .clone()
        .env("GITHUB_API_URL", &github.url(""))
        .env("GITHUB_REPOSITORY", "acme/site");
    let terminal = terminal.env("GITHUB_DISPATCH_TOKEN", "ght_MARK").env("no_proxy", "*");
    let terminal = terminal.env("COUNTERSIGN_SEAL_KEY", "MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=");
    let sealed = terminal
        .run_with_input(
            &["seal", "--bind", "acme/deployer", "ship-v1.7"],
            r#"{"tag":"v1.7","commit":"4af1"}"#,
        )
        .ok();
    let state = setup.hub.scratch().write("state", &sealed).display().to_string();
    let url = setup.url();
    let ask = [
        "ask",
        "Ship?",
        "--confirm",
        "--detach",
        "--key",
        "ship-v1.7",
        "--callback",
        &url,
        "--state",
        &state,
    ];
    let id = message_id(&terminal.run(&ask).ok());
    let _receiver = setup
        .receive_at(&terminal, &url, &[example("github-actions/dispatch.sh")])
        .await;
    setup.hub.owner.answer(&id, "approve").await.expect(200);
    let dispatch = github.at("/repos/acme/site/dispatches", 1).await.remove(0);
    assert_eq!(dispatch.header("authorization"), "Bearer ght_MARK");
    let expected = json!({"event_type": "countersign-resolved", "client_payload": {"message_id": id}});
    assert_eq!(dispatch.json(), expected);
    setup.hub.delivery(&id, "delivered").await;

    // The job runs on another machine, with its own journal.
    let fresh = setup.hub.scratch().path("runner.db").display().to_string();
    let job = terminal.env("COUNTERSIGN_JOURNAL", &fresh);
    let ran = job
        .start_program(
            "countersign",
            &["wait", &id, "--exec", &example("github-actions/ship.sh")],
        )
        .finish();
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(
        format!("{}{}", ran.stdout, ran.stderr).contains("shipping v1.7, approved by human:owner"),
        "{ran:?}"
    );
}
