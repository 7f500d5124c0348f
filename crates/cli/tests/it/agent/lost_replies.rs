//! Lost replies and killed processes between an ask and its ack still make one question only.

use super::{asked, message_id, messages};
use crate::harness::*;

const SUBMIT: &str = "/v1/messages";

/// An agent that reaches its hub only through a proxy. The proxy is the public URL of the hub, so every `poll_url`
/// leads through the proxy as well.
async fn stage() -> (Hub, Agent, Proxy, Terminal) {
    let proxy = Proxy::start().await;
    let hub = Setup::pushing().args(&["--public-url", &proxy.url("")]).start().await;
    proxy.forward_to(&hub.url);
    let bot = hub.agent("acme/deployer").await;
    let terminal = Terminal::remote(&hub, &proxy.url(""), &bot);
    (hub, bot, proxy, terminal)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_lost_ack_creates_no_second_message() {
    let (hub, bot, proxy, terminal) = stage().await;
    proxy.inject_faults(SUBMIT, &[Fault::LoseReply, Fault::LoseReply, Fault::LoseReply]);
    let (process, id) = asked(&terminal, &["ask", "Ship?", "--confirm"]).await;
    let sent = proxy.at(SUBMIT);
    assert_eq!(sent.len(), 4, "three lost, one through");
    assert!(
        sent.iter().all(|one| one.body == sent[0].body),
        "the same bytes each time"
    );
    assert_eq!(messages(&bot).await, 1);
    hub.owner.answer(&id, "approve").await.expect(200);
    assert_eq!(process.finish().ok(), "approve\n");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_lost_poll_is_repeated() {
    let (hub, _bot, proxy, terminal) = stage().await;
    let id = message_id(&terminal.run(&["ask", "Ship?", "--confirm", "--detach"]).ok());
    let path = format!("{SUBMIT}/{id}");
    proxy.inject_faults(&path, &[Fault::LoseReply, Fault::LoseReply]);
    hub.owner.answer(&id, "deny").await.expect(200);
    assert_eq!(terminal.run(&["wait", &id]).code, 10);
    assert_eq!(proxy.at(&path).len(), 3);
}

/// Asks, is killed while `fault` holds the submit, and asks again with the same arguments.
async fn killed_and_repeated(fault: Fault) {
    let (hub, bot, proxy, terminal) = stage().await;
    let ask = ["ask", "Ship?", "--confirm", "--key", "ship-17", "--expires", "2h"];
    proxy.inject_faults(SUBMIT, &[fault]);
    let mut process = terminal.start(&ask);
    proxy.until(SUBMIT, 1).await;
    process.kill();
    let (process, id) = asked(&terminal, &ask).await;
    let sent = proxy.at(SUBMIT);
    assert_eq!(sent[0].body, sent[1].body, "what was kept is sent again as it was");
    assert_eq!(messages(&bot).await, 1);
    hub.owner.answer(&id, "approve").await.expect(200);
    assert_eq!(process.finish().ok(), "approve\n");
    let ran = terminal.run(&ask);
    assert_eq!(
        (ran.code, ran.stdout.as_str()),
        (0, "approve\n"),
        "asked again, it is answered already: {ran:?}"
    );
    assert_eq!(messages(&bot).await, 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_rerun_after_a_kill_finds_the_ask_the_hub_received() {
    killed_and_repeated(Fault::HoldReply).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_rerun_after_a_kill_sends_the_ask_the_hub_never_received() {
    killed_and_repeated(Fault::HoldRequest).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_key_identifies_one_question() {
    let (_hub, bot, _proxy, terminal) = stage().await;
    terminal
        .run(&["ask", "Ship 17?", "--confirm", "--detach", "--key", "k"])
        .ok();
    let output = terminal
        .run(&["ask", "Ship 18?", "--confirm", "--detach", "--key", "k"])
        .fails(1);
    assert!(output.contains('k'), "{output}");
    assert_eq!(messages(&bot).await, 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn concurrent_identical_asks_are_one_question() {
    let (_hub, bot, _proxy, terminal) = stage().await;
    let ask = ["ask", "Ship?", "--confirm", "--detach", "--key", "ship-17"];
    let started: Vec<Process> = (0..4).map(|_| terminal.start(&ask)).collect();
    let ids: Vec<String> = started.into_iter().map(|process| process.finish().ok()).collect();
    assert!(ids.iter().all(|id| *id == ids[0]), "{ids:?}");
    assert_eq!(messages(&bot).await, 1);
}
