//! Killed with `kill -9` at any moment, an agent that says the same again gets the same request, and its answer once.

use super::{Desk, answer, answered, items, terminal_token, waited_for};
use crate::harness::*;

const CUES: &str = "/v1/hap/cues";
const ASK: &str = "Ship it?";

/// An agent that reaches its hub through a proxy only.
async fn stage() -> (Hub, Proxy, Desk) {
    let hub = Hub::start().await;
    let proxy = Proxy::start().await;
    proxy.lead_to(&hub.url);
    let token = terminal_token(&hub, "owner").await;
    let desk = Desk::beside(&hub)
        .env("COUNTERSIGN_URL", &proxy.url(""))
        .env("COUNTERSIGN_TOKEN", &token);
    (hub, proxy, desk)
}

/// Once more, to the end: one request with this answer, collected, so that the same words ask anew afterwards.
async fn ends_well(hub: &Hub, desk: &Desk, id: &str) {
    let ran = desk.cue("gavonel", ASK).finish();
    assert!(ran.stderr.contains(id), "the same request: {ran:?}");
    assert_eq!(ran.ok(), answered("yes"));
    assert_eq!(items(hub).await.len(), 0);
    let (_process, next) = desk.waiting(hub, "gavonel", ASK).await;
    assert_ne!(next, id, "given once");
}

#[tokio::test(flavor = "multi_thread")]
async fn before_the_request_is_sent_nothing_is_asked() {
    let (hub, proxy, desk) = stage().await;
    proxy.disturb(CUES, &[Fault::HoldRequest]);
    let mut process = desk.cue("gavonel", ASK);
    proxy.until(CUES, 1).await;
    process.kill();
    assert_eq!(items(&hub).await.len(), 0);
    let (process, id) = desk.waiting(&hub, "gavonel", ASK).await;
    answer(&hub, &id, "yes").await;
    let ran = process.finish();
    assert_eq!(
        (ran.stdout.as_str(), ran.stderr.as_str()),
        (answered("yes").as_str(), "")
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn between_the_request_and_its_acknowledgement() {
    let (hub, proxy, desk) = stage().await;
    proxy.disturb(CUES, &[Fault::HoldReply]);
    let mut process = desk.cue("gavonel", ASK);
    proxy.until(CUES, 1).await;
    process.kill();
    assert_eq!(items(&hub).await.len(), 1, "it is kept");
    let (process, id) = desk.waiting(&hub, "gavonel", ASK).await;
    assert!(process.stderr_with("\n").await.contains(&id));
    assert_eq!(items(&hub).await.len(), 1, "still one");
    answer(&hub, &id, "yes").await;
    assert_eq!(process.finish().ok(), answered("yes"));
}

#[tokio::test(flavor = "multi_thread")]
async fn while_it_waits() {
    let hub = Hub::start().await;
    let desk = Desk::beside(&hub);
    let (mut process, id) = desk.waiting(&hub, "gavonel", ASK).await;
    process.kill();
    let (process, again) = desk.waiting(&hub, "gavonel", ASK).await;
    assert_eq!(again, id);
    assert_eq!(
        process.stderr_with("\n").await,
        format!("cueme: this was asked before; waiting again for {id}\n"),
        "and the agent is told"
    );
    answer(&hub, &id, "yes").await;
    assert_eq!(process.finish().ok(), answered("yes"));
}

#[tokio::test(flavor = "multi_thread")]
async fn while_nobody_waits_an_answer_is_kept() {
    let hub = Hub::start().await;
    let desk = Desk::beside(&hub);
    let (mut process, id) = desk.waiting(&hub, "gavonel", ASK).await;
    process.kill();
    answer(&hub, &id, "yes").await;
    ends_well(&hub, &desk, &id).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn between_the_answer_and_its_arrival() {
    let (hub, proxy, desk) = stage().await;
    let (mut first, id) = desk.waiting(&hub, "gavonel", ASK).await;
    first.kill();
    let path = format!("{CUES}/{id}");
    proxy.disturb(&path, &[Fault::HoldReply]);
    let mut second = desk.cue("gavonel", ASK);
    second.stderr_with(&id).await;
    answer(&hub, &id, "yes").await;
    // The replies for both processes are on their way.
    proxy.until(&path, 2).await;
    second.kill();
    ends_well(&hub, &desk, &id).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn between_printing_and_telling_so() {
    let (hub, proxy, desk) = stage().await;
    let (mut process, id) = desk.waiting(&hub, "gavonel", ASK).await;
    let collected = format!("{CUES}/{id}/collected");
    proxy.disturb(&collected, &[Fault::HoldRequest]);
    answer(&hub, &id, "yes").await;
    proxy.until(&collected, 1).await;
    process.kill();
    assert!(process.output().contains(&answered("yes")), "printed first");
    ends_well(&hub, &desk, &id).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn replies_that_get_lost_are_asked_for_again() {
    let (hub, proxy, desk) = stage().await;
    proxy.disturb(CUES, &[Fault::LoseReply, Fault::LoseReply]);
    let process = desk.cue("gavonel", ASK);
    let id = waited_for(&hub, ASK).await;
    assert_eq!(items(&hub).await.len(), 1);
    let path = format!("{CUES}/{id}");
    let collected = format!("{CUES}/{id}/collected");
    proxy.disturb(&path, &[Fault::LoseReply]);
    proxy.disturb(&collected, &[Fault::LoseReply]);
    answer(&hub, &id, "yes").await;
    assert_eq!(process.finish().ok(), answered("yes"));
    let (_process, next) = desk.waiting(&hub, "gavonel", ASK).await;
    assert_ne!(next, id, "the hub knows that it was collected");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_that_cannot_be_printed_is_kept() {
    let hub = Hub::start().await;
    let desk = Desk::beside(&hub);
    let (mut process, id) = desk.waiting(&hub, "gavonel", ASK).await;
    process.kill();
    answer(&hub, &id, "yes").await;
    let mut command = std::process::Command::new("sh");
    let line = format!("exec {} cue gavonel - > /dev/full", cueme_binary().display());
    command.args(["-c", &line]).envs(
        desk.command(&[])
            .get_envs()
            .filter_map(|(name, value)| Some((name, value?))),
    );
    let said = Process::spawn(command, super::envelope(ASK)).finish().fails(1);
    assert!(
        said.contains("standard output cannot be written") && said.contains("cueme resume gavonel"),
        "{said}"
    );
    ends_well(&hub, &desk, &id).await;
}
