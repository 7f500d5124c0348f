//! The asking process has exited. Another process gets the answer, by pull or push, and restores the state.

use serde_json::{Value, json};

use super::action_log::{ActionLog, exec};
use super::receive::ReceiverSetup;
use super::{message_id, stage};
use crate::harness::*;

const KEY: &str = "MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=";

/// Seals `state` for the ask with the key `ship-17` into a file for `--state`.
fn sealed(hub: &Hub, terminal: &Terminal, state: &Value) -> String {
    let args = ["seal", "--key-env", "SEAL_KEY", "--bind", "acme/deployer", "ship-17"];
    let token = terminal.run_with_input(&args, &state.to_string()).ok();
    assert!(token.contains("CSEALv2.") && !token.contains("step"), "{token}");
    hub.scratch().write("state.json", &token).display().to_string()
}

fn opened(terminal: &Terminal, state: &Value) -> CommandOutput {
    let args = ["open", "--key-env", "SEAL_KEY", "--bind", "acme/deployer", "ship-17"];
    terminal.run_with_input(&args, &state.to_string())
}

#[tokio::test(flavor = "multi_thread")]
async fn by_pull_a_new_process_gets_the_answer_and_the_state() {
    let (hub, _bot, terminal) = stage().await;
    let terminal = terminal.env("SEAL_KEY", KEY);
    let action_log = ActionLog::new(&hub);
    let state = json!({"step": 3, "commit": "4af1"});
    let file = sealed(&hub, &terminal, &state);
    let ask = [
        "ask",
        "Ship?",
        "--confirm",
        "--detach",
        "--key",
        "ship-17",
        "--state",
        &file,
    ];
    let id = terminal.run(&ask).ok().trim_end().to_owned();
    assert_eq!(id, message_id(&id), "detached: the id alone");
    hub.owner.answer(&id, "approve").await.expect(200);

    let command = action_log.command();
    for _ in 0..3 {
        let ran = terminal.run(&exec(&["wait", &id], &command));
        assert_eq!(ran.code, 0, "{ran:?}");
    }
    let done = action_log.done();
    assert_eq!(done.len(), 1, "however often one waits, the work is done once");
    assert_eq!([&done[0]["id"], &done[0]["value"]], [&json!(id), &json!("approve")]);
    assert!(
        action_log.environments()[0].starts_with(&format!("{id} answered res_")),
        "{:?}",
        action_log.environments()
    );
    assert_eq!(opened(&terminal, &done[0]["state"]).json(), state);
    let other = terminal.env("SEAL_KEY", "YWJjZGVmMDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODk=");
    assert_eq!(opened(&other, &done[0]["state"]).code, 20);
}

#[tokio::test(flavor = "multi_thread")]
async fn by_push_a_receiver_gets_the_answer_and_the_state() {
    let setup = ReceiverSetup::open().await;
    let terminal = setup.terminal.clone().env("SEAL_KEY", KEY);
    let action_log = &setup.action_log;
    let state = json!({"step": 3, "commit": "4af1"});
    let file = sealed(&setup.hub, &terminal, &state);
    let ask = [
        "ask",
        "Ship?",
        "--confirm",
        "--detach",
        "--key",
        "ship-17",
        "--state",
        &file,
    ];
    let url = setup.url();
    let id = message_id(&terminal.run(&[&ask[..], &["--callback", &url]].concat()).ok());
    let _receiver = setup.receive(&action_log.command()).await;
    setup.hub.owner.answer(&id, "deny").await.expect(200);
    setup.hub.delivery(&id, "delivered").await;
    let done = action_log.done();
    assert_eq!(done.len(), 1, "{done:?}");
    assert_eq!(
        [&done[0]["id"], &done[0]["value"], &done[0]["actor"]],
        [&json!(id), &json!("deny"), &json!("human:owner")]
    );
    assert!(
        action_log.environments()[0].starts_with(&format!("{id} answered res_")),
        "{:?}",
        action_log.environments()
    );
    assert_eq!(opened(&terminal, &done[0]["state"]).json(), state);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_pushed_answer_is_not_acted_on_again_by_pull() {
    let setup = ReceiverSetup::open().await;
    let command = setup.action_log.command();
    let id = setup.asked().await;
    let _receiver = setup.receive(&command).await;
    setup.hub.owner.answer(&id, "approve").await.expect(200);
    setup.hub.delivery(&id, "delivered").await;
    let ran = setup.terminal.run(&exec(&["wait", &id], &command));
    assert_eq!(ran.code, 0, "{ran:?}");
    assert_eq!(setup.action_log.ids(), [id]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_machine_that_never_saw_the_ask_can_wait_for_it() {
    let (hub, _bot, terminal) = stage().await;
    let id = message_id(&terminal.run(&["ask", "Ship?", "--confirm", "--detach"]).ok());
    let fresh = terminal.env("COUNTERSIGN_JOURNAL", hub.scratch().path("fresh.db").to_str().unwrap());
    hub.owner.answer(&id, "deny").await.expect(200);
    let ran = fresh.run(&["wait", &id]);
    assert_eq!((ran.code, ran.stdout.as_str()), (10, "deny\n"), "{ran:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn old_seals_open_and_a_changed_one_does_not() {
    let (_hub, _bot, terminal) = stage().await;
    let terminal = terminal.env("SEAL_KEY", KEY);
    let token = terminal
        .run_with_input(&["seal", "--key-env", "SEAL_KEY"], r#"{"step":3}"#)
        .ok();
    assert!(token.contains("SEALv1."), "{token}");
    let open = |text: &str| terminal.run_with_input(&["open", "--key-env", "SEAL_KEY"], text);
    assert_eq!(open(&token).json(), json!({"step": 3}));
    let changed = token.replacen("SEALv1.", "SEALv1.A", 1);
    let ran = open(&changed);
    assert!(
        ran.code == 20 && ran.stdout.is_empty() && !ran.stderr.is_empty(),
        "{ran:?}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn the_callback_secret_is_refused_as_a_seal_key() {
    let (_hub, _bot, terminal) = stage().await;
    let terminal = terminal
        .env("SEAL_KEY", KEY)
        .env("COUNTERSIGN_SIGNING_KEY", &format!("whsec_{KEY}"));
    let ran = terminal.run_with_input(&["seal", "--key-env", "SEAL_KEY"], r#"{"step":3}"#);
    assert!(
        ran.code != 0 && ran.stdout.is_empty() && ran.stderr.contains("callback secret"),
        "{ran:?}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_state_opens_for_its_own_question_only() {
    let (_hub, _bot, terminal) = stage().await;
    let terminal = terminal.env("SEAL_KEY", KEY);
    let args = |verb: &'static str, bound: &'static [&'static str]| [&[verb, "--key-env", "SEAL_KEY"], bound].concat();
    let mine: &[&str] = &["--bind", "acme/deployer", "ship-17"];
    let token = terminal.run_with_input(&args("seal", mine), r#"{"step":3}"#).ok();
    for other in [
        &["--bind", "acme/deployer", "ship-18"][..],
        &["--bind", "acme/other", "ship-17"],
        &[],
    ] {
        let ran = terminal.run_with_input(&args("open", other), &token);
        assert!(ran.code == 20 && ran.stdout.is_empty(), "{other:?}: {ran:?}");
    }
    assert_eq!(
        terminal.run_with_input(&args("open", mine), &token).json(),
        json!({"step": 3})
    );
}
