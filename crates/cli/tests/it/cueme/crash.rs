//! `cueme` is killed with SIGKILL at any step: repeating the same cue attaches to the same request, and its answer is
//! delivered once.

use super::{AgentShell, answer, answered, items, terminal_token, wait_for_request};
use crate::harness::*;

const CUES: &str = "/v1/hap/cues";
const ASK: &str = "Ship it?";

/// An agent that reaches its hub only through a proxy.
async fn stage() -> (Hub, Proxy, AgentShell) {
    let hub = Hub::start().await;
    let proxy = Proxy::start().await;
    proxy.forward_to(&hub.url);
    let token = terminal_token(&hub, "owner").await;
    let shell = AgentShell::with_hub(&hub)
        .env("COUNTERSIGN_URL", &proxy.url(""))
        .env("COUNTERSIGN_TOKEN", &token);
    (hub, proxy, shell)
}

/// Repeats the cue and gets the answer of the same request; once collected, the same prompt is a new request.
async fn check_answered_once(hub: &Hub, shell: &AgentShell, id: &str) {
    let ran = shell.cue("gavonel", ASK).finish();
    assert!(ran.stderr.contains(id), "the same request: {ran:?}");
    assert_eq!(ran.ok(), answered("yes"));
    assert_eq!(items(hub).await.len(), 0);
    let (_process, next) = shell.waiting(hub, "gavonel", ASK).await;
    assert_ne!(next, id, "the answer is delivered once");
}

#[tokio::test(flavor = "multi_thread")]
async fn killed_before_the_request_is_sent() {
    let (hub, proxy, shell) = stage().await;
    proxy.inject_faults(CUES, &[Fault::HoldRequest]);
    let mut process = shell.cue("gavonel", ASK);
    proxy.until(CUES, 1).await;
    process.kill();
    assert_eq!(items(&hub).await.len(), 0);
    let (process, id) = shell.waiting(&hub, "gavonel", ASK).await;
    answer(&hub, &id, "yes").await;
    let ran = process.finish();
    assert_eq!(
        (ran.stdout.as_str(), ran.stderr.as_str()),
        (answered("yes").as_str(), "")
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn killed_between_the_request_and_its_acknowledgement() {
    let (hub, proxy, shell) = stage().await;
    proxy.inject_faults(CUES, &[Fault::HoldReply]);
    let mut process = shell.cue("gavonel", ASK);
    proxy.until(CUES, 1).await;
    process.kill();
    assert_eq!(items(&hub).await.len(), 1, "the request is stored");
    let (process, id) = shell.waiting(&hub, "gavonel", ASK).await;
    assert!(process.stderr_with("\n").await.contains(&id));
    assert_eq!(items(&hub).await.len(), 1, "still one request");
    answer(&hub, &id, "yes").await;
    assert_eq!(process.finish().ok(), answered("yes"));
}

#[tokio::test(flavor = "multi_thread")]
async fn killed_while_waiting() {
    let hub = Hub::start().await;
    let shell = AgentShell::with_hub(&hub);
    let (mut process, id) = shell.waiting(&hub, "gavonel", ASK).await;
    process.kill();
    let (process, again) = shell.waiting(&hub, "gavonel", ASK).await;
    assert_eq!(again, id);
    assert_eq!(
        process.stderr_with("\n").await,
        format!("cueme: this was asked before; waiting again for {id}\n"),
        "stderr names the request"
    );
    answer(&hub, &id, "yes").await;
    assert_eq!(process.finish().ok(), answered("yes"));
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_without_a_waiting_process_is_kept() {
    let hub = Hub::start().await;
    let shell = AgentShell::with_hub(&hub);
    let (mut process, id) = shell.waiting(&hub, "gavonel", ASK).await;
    process.kill();
    answer(&hub, &id, "yes").await;
    check_answered_once(&hub, &shell, &id).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn killed_between_the_answer_and_its_arrival() {
    let (hub, proxy, shell) = stage().await;
    let (mut first, id) = shell.waiting(&hub, "gavonel", ASK).await;
    first.kill();
    let path = format!("{CUES}/{id}");
    proxy.inject_faults(&path, &[Fault::HoldReply]);
    let mut second = shell.cue("gavonel", ASK);
    second.stderr_with(&id).await;
    answer(&hub, &id, "yes").await;
    // The replies to both processes are in flight.
    proxy.until(&path, 2).await;
    second.kill();
    check_answered_once(&hub, &shell, &id).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn killed_between_printing_and_acknowledging() {
    let (hub, proxy, shell) = stage().await;
    let (mut process, id) = shell.waiting(&hub, "gavonel", ASK).await;
    let collected = format!("{CUES}/{id}/collected");
    proxy.inject_faults(&collected, &[Fault::HoldRequest]);
    answer(&hub, &id, "yes").await;
    proxy.until(&collected, 1).await;
    process.kill();
    // Printed first.
    process.stdout_with(&answered("yes")).await;
    check_answered_once(&hub, &shell, &id).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn lost_replies_are_retried() {
    let (hub, proxy, shell) = stage().await;
    proxy.inject_faults(CUES, &[Fault::LoseReply, Fault::LoseReply]);
    let process = shell.cue("gavonel", ASK);
    let id = wait_for_request(&hub, ASK).await;
    assert_eq!(items(&hub).await.len(), 1);
    let path = format!("{CUES}/{id}");
    let collected = format!("{CUES}/{id}/collected");
    proxy.inject_faults(&path, &[Fault::LoseReply]);
    proxy.inject_faults(&collected, &[Fault::LoseReply]);
    answer(&hub, &id, "yes").await;
    assert_eq!(process.finish().ok(), answered("yes"));
    let (_process, next) = shell.waiting(&hub, "gavonel", ASK).await;
    assert_ne!(next, id, "the hub knows that the answer was collected");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_that_cannot_be_printed_is_kept() {
    let hub = Hub::start().await;
    let shell = AgentShell::with_hub(&hub);
    let (mut process, id) = shell.waiting(&hub, "gavonel", ASK).await;
    process.kill();
    answer(&hub, &id, "yes").await;
    let mut command = std::process::Command::new("sh");
    let line = format!("exec {} cue gavonel - > /dev/full", cueme_binary().display());
    command.args(["-c", &line]).envs(
        shell
            .command(&[])
            .get_envs()
            .filter_map(|(name, value)| Some((name, value?))),
    );
    let stderr = Process::spawn(command, super::envelope(ASK)).finish().fails(1);
    assert!(
        stderr.contains("standard output cannot be written") && stderr.contains("cueme resume gavonel"),
        "{stderr}"
    );
    check_answered_once(&hub, &shell, &id).await;
}
