//! A receiver acts for its own agent only, and knows of a message what its agent may know.

use serde_json::json;

use super::act::{Acts, exec};
use super::message_id;
use super::receive::{Counter, address};
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
async fn an_answer_to_another_ed25519_agent_starts_nothing() {
    let hub = Setup::pushing().start().await;
    let alpha = hub.agent_signed_by("alpha", "ed25519").await;
    let beta = hub.agent_signed_by("beta", "ed25519").await;
    let front = Proxy::start().await;
    for agent in [&alpha, &beta] {
        hub.approve(agent, &front.host()).await;
    }
    let acts = Acts::new(&hub);
    let url = front.url("/resume");
    let command = acts.command();
    // The journal is shared, and beta's message is in it.
    let terminal = Terminal::of(&hub, &hub.url, &alpha);
    let of_beta = Terminal::of(&hub, &hub.url, &beta);
    let theirs = message_id(
        &of_beta
            .run(&["ask", "Ship?", "--confirm", "--detach", "--callback", &url])
            .ok(),
    );
    let receiver = terminal.start(&exec(&receive(&url, &["--ed25519", "hub"]), &command));
    front.lead_to(&address(&receiver).await);
    hub.owner.answer(&theirs, "approve").await.expect(200);
    let delivery = hub.delivery(&theirs, "failed").await;
    assert_eq!(delivery["attempts"], 1, "it is final: {delivery}");
    assert!(
        receiver.stderr_with(&theirs).await.contains("refused"),
        "{}",
        receiver.output()
    );
    assert_eq!(acts.done().len(), 0);

    let ours = alpha.accepted(&push_to(ask(&alpha.id), &url)).await;
    hub.owner.answer(&ours, "approve").await.expect(200);
    hub.delivery(&ours, "delivered").await;
    assert_eq!(acts.ids(), [ours]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_receiver_with_another_journal_can_open_a_bound_state() {
    let counter = Counter::open().await;
    let terminal = counter.terminal.clone().env("SEAL_KEY", KEY);
    let bound = ["--key-env", "SEAL_KEY", "--bind", "acme/deployer", "ship-17"];
    let token = terminal
        .run_with_input(&[&["seal"], &bound[..]].concat(), r#"{"step":3}"#)
        .ok();
    let file = counter.hub.scratch().write("state", &token).display().to_string();
    let url = counter.url();
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
    let elsewhere = counter.hub.scratch().path("elsewhere.db").display().to_string();
    let fresh = terminal.clone().env("COUNTERSIGN_JOURNAL", &elsewhere);
    let _receiver = counter.receive_at(&fresh, &url, &counter.acts.command()).await;
    counter.hub.owner.answer(&id, "approve").await.expect(200);
    counter.hub.delivery(&id, "delivered").await;
    let outcome = counter.acts.done().remove(0);
    let key = outcome["idempotency_key"].as_str().expect("the key it was sent under");
    let words = ["open", "--key-env", "SEAL_KEY", "--bind", "acme/deployer", key];
    assert_eq!(
        terminal.run_with_input(&words, &outcome.to_string()).json(),
        json!({"step": 3})
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn while_the_hub_does_not_say_whose_it_is_nothing_runs_and_it_comes_again() {
    let counter = Counter::open().await;
    let way = Proxy::start().await;
    way.lead_to(&counter.hub.url);
    let id = counter.asked().await;
    let terminal = counter.terminal.clone().env("COUNTERSIGN_URL", &way.url(""));
    let receiver = counter
        .receive_at(&terminal, &counter.url(), &counter.acts.command())
        .await;
    way.disturb(&format!("/v1/messages/{id}"), &[Fault::LoseReply]);
    counter.hub.owner.answer(&id, "approve").await.expect(200);
    let delivery = counter.hub.delivery(&id, "delivered").await;
    assert_eq!(delivery["attempts"], 2, "{delivery}");
    assert!(
        receiver.output().contains("does not say whose"),
        "{}",
        receiver.output()
    );
    assert_eq!(counter.acts.ids(), [id]);
}

#[tokio::test(flavor = "multi_thread")]
async fn without_the_agents_token_the_key_of_the_hub_is_not_enough() {
    let counter = Counter::open().await;
    let url = counter.url();
    let command = counter.acts.command();
    let words = receive(&url, &["--ed25519", "hub"]);
    for name in ["COUNTERSIGN_TOKEN", "COUNTERSIGN_AGENT"] {
        let said = counter
            .terminal
            .clone()
            .without(name)
            .run(&exec(&words, &command))
            .fails(1);
        assert!(
            said.contains("COUNTERSIGN_TOKEN") && said.contains("COUNTERSIGN_AGENT"),
            "{said}"
        );
    }
    // A key that the agent alone shares with the hub is.
    let id = counter.asked().await;
    let bare = counter
        .terminal
        .clone()
        .without("COUNTERSIGN_TOKEN")
        .without("COUNTERSIGN_URL");
    let _receiver = counter.receive_at(&bare, &url, &command).await;
    counter.hub.owner.answer(&id, "approve").await.expect(200);
    counter.hub.delivery(&id, "delivered").await;
    assert_eq!(counter.acts.ids(), [id]);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_could_not_work_does_not_start() {
    let counter = Counter::open().await;
    let url = counter.url();
    let note = counter
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
        let said = counter
            .terminal
            .run(&exec(&receive(&url, &[]), &[program.to_owned()]))
            .fails(1);
        assert!(said.contains(program) && said.contains(reason), "{said}");
    }
    let command = counter.acts.command();
    for key in ["short", "whsec_?", "whsec_"] {
        let terminal = counter.terminal.clone().env("COUNTERSIGN_SIGNING_KEY", key);
        let said = terminal.run(&exec(&receive(&url, &[]), &command)).fails(1);
        assert!(
            said.contains("COUNTERSIGN_SIGNING_KEY") && said.contains("whsec_…"),
            "{said}"
        );
        assert!(!said.contains(&format!("{key} ")), "the key is not shown: {said}");
    }
}
