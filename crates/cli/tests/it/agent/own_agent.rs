//! A receiver acts for its own agent only, and reads only messages of that agent.

use serde_json::json;

use super::action_log::{ActionLog, exec};
use super::message_id;
use super::receive::{ReceiverSetup, address};
use crate::harness::*;

const KEY: &str = "MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=";

fn receive<'a>(url: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    [
        &["receive", "--listen", "127.0.0.1:0", "--url", url, "--path", "/resume"],
        more,
    ]
    .concat()
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_to_another_ed25519_agent_runs_nothing() {
    let hub = Setup::pushing().start().await;
    let alpha = hub.agent_signed_by("alpha", "ed25519").await;
    let beta = hub.agent_signed_by("beta", "ed25519").await;
    let front = Proxy::start().await;
    for agent in [&alpha, &beta] {
        hub.approve(agent, &front.host()).await;
    }
    let action_log = ActionLog::new(&hub);
    let url = front.url("/resume");
    let command = action_log.command();
    // Both agents share the journal, so it holds beta's message.
    let terminal = Terminal::remote(&hub, &hub.url, &alpha);
    let of_beta = Terminal::remote(&hub, &hub.url, &beta);
    let theirs = message_id(
        &of_beta
            .run(&["ask", "Ship?", "--confirm", "--detach", "--callback", &url])
            .ok(),
    );
    let receiver = terminal.start(&exec(&receive(&url, &["--ed25519", "hub"]), &command));
    front.forward_to(&address(&receiver).await);
    hub.owner.answer(&theirs, "approve").await.expect(200);
    let delivery = hub.delivery(&theirs, "failed").await;
    assert_eq!(delivery["attempts"], 1, "it is final: {delivery}");
    assert!(
        receiver.stderr_with(&theirs).await.contains("refused"),
        "{}",
        receiver.output()
    );
    assert_eq!(action_log.done().len(), 0);

    let ours = alpha.accepted(&push_to(ask(&alpha.id), &url)).await;
    hub.owner.answer(&ours, "approve").await.expect(200);
    hub.delivery(&ours, "delivered").await;
    assert_eq!(action_log.ids(), [ours]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_receiver_with_another_journal_can_open_a_bound_state() {
    let setup = ReceiverSetup::open().await;
    let terminal = setup.terminal.clone().env("SEAL_KEY", KEY);
    let bound = ["--key-env", "SEAL_KEY", "--bind", "acme/deployer", "ship-17"];
    let token = terminal
        .run_with_input(&[&["seal"], &bound[..]].concat(), r#"{"step":3}"#)
        .ok();
    let file = setup.hub.scratch().write("state", &token).display().to_string();
    let url = setup.url();
    let ask = [
        "ask",
        "Ship?",
        "--confirm",
        "--detach",
        "--key",
        "ship-17",
        "--state",
        &file,
        "--callback",
        &url,
    ];
    let id = message_id(&terminal.run(&ask).ok());
    let elsewhere = setup.hub.scratch().path("elsewhere.db").display().to_string();
    let fresh = terminal.clone().env("COUNTERSIGN_JOURNAL", &elsewhere);
    let _receiver = setup.receive_at(&fresh, &url, &setup.action_log.command()).await;
    setup.hub.owner.answer(&id, "approve").await.expect(200);
    setup.hub.delivery(&id, "delivered").await;
    let outcome = setup.action_log.done().remove(0);
    let key = outcome["idempotency_key"].as_str().expect("the key it was sent under");
    let args = ["open", "--key-env", "SEAL_KEY", "--bind", "acme/deployer", key];
    assert_eq!(
        terminal.run_with_input(&args, &outcome.to_string()).json(),
        json!({"step": 3})
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_push_is_retried_until_the_hub_confirms_its_agent() {
    let setup = ReceiverSetup::open().await;
    let proxy = Proxy::start().await;
    proxy.forward_to(&setup.hub.url);
    let id = setup.asked().await;
    let terminal = setup.terminal.clone().env("COUNTERSIGN_URL", &proxy.url(""));
    let receiver = setup
        .receive_at(&terminal, &setup.url(), &setup.action_log.command())
        .await;
    proxy.inject_faults(&format!("/v1/messages/{id}"), &[Fault::LoseReply]);
    setup.hub.owner.answer(&id, "approve").await.expect(200);
    let delivery = setup.hub.delivery(&id, "delivered").await;
    assert_eq!(delivery["attempts"], 2, "{delivery}");
    assert!(
        receiver.output().contains("looking up the owner of the message failed"),
        "{}",
        receiver.output()
    );
    assert_eq!(setup.action_log.ids(), [id]);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_hub_key_alone_is_not_enough_without_the_agent_token() {
    let setup = ReceiverSetup::open().await;
    let url = setup.url();
    let command = setup.action_log.command();
    let args = receive(&url, &["--ed25519", "hub"]);
    for name in ["COUNTERSIGN_TOKEN", "COUNTERSIGN_AGENT"] {
        let output = setup
            .terminal
            .clone()
            .without(name)
            .run(&exec(&args, &command))
            .fails(1);
        assert!(
            output.contains("COUNTERSIGN_TOKEN") && output.contains("COUNTERSIGN_AGENT"),
            "{output}"
        );
    }
    // A signing key that only this agent shares with the hub is enough.
    let id = setup.asked().await;
    let bare = setup
        .terminal
        .clone()
        .without("COUNTERSIGN_TOKEN")
        .without("COUNTERSIGN_URL");
    let _receiver = setup.receive_at(&bare, &url, &command).await;
    setup.hub.owner.answer(&id, "approve").await.expect(200);
    setup.hub.delivery(&id, "delivered").await;
    assert_eq!(setup.action_log.ids(), [id]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_receiver_that_cannot_work_does_not_start() {
    let setup = ReceiverSetup::open().await;
    let url = setup.url();
    let note = setup
        .hub
        .scratch()
        .write("note.txt", "no program")
        .display()
        .to_string();
    for (program, reason) in [
        ("no-such-command", "PATH"),
        ("/nonexistent/x", "no such file"),
        (&*note, "chmod +x"),
    ] {
        let output = setup
            .terminal
            .run(&exec(&receive(&url, &[]), &[program.to_owned()]))
            .fails(1);
        assert!(output.contains(program) && output.contains(reason), "{output}");
    }
    let command = setup.action_log.command();
    for key in ["short", "whsec_?", "whsec_"] {
        let terminal = setup.terminal.clone().env("COUNTERSIGN_SIGNING_KEY", key);
        let output = terminal.run(&exec(&receive(&url, &[]), &command)).fails(1);
        assert!(
            output.contains("COUNTERSIGN_SIGNING_KEY") && output.contains("whsec_…"),
            "{output}"
        );
        assert!(!output.contains(&format!("{key} ")), "the key is not shown: {output}");
    }
}
