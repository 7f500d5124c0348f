//! Many agents, several requests of one agent, and type-ahead.

use serde_json::{Value, json};

use super::{AgentShell, answer, answered, envelope, item, items, until_gone, wait_for_request};
use crate::harness::*;

#[tokio::test(flavor = "multi_thread")]
async fn ten_agents_at_once_each_get_their_own_answer() {
    let hub = Hub::start().await;
    let shell = AgentShell::with_hub(&hub);
    let names: Vec<String> = (0..10).map(|_| shell.join()).collect();
    let processes: Vec<Process> = names.iter().map(|name| shell.cue(name, &format!("{name}?"))).collect();
    for name in names.iter().rev() {
        answer(
            &hub,
            &wait_for_request(&hub, &format!("{name}?")).await,
            format!("for {name}"),
        )
        .await;
    }
    for (process, name) in processes.into_iter().zip(&names) {
        assert_eq!(process.finish().ok(), answered(&format!("for {name}")));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn two_requests_of_one_agent_may_be_answered_in_reverse_order() {
    let hub = Hub::start().await;
    let shell = AgentShell::with_hub(&hub);
    let (one, first) = shell.waiting(&hub, "gavonel", "One?").await;
    let (two, second) = shell.waiting(&hub, "gavonel", "Two?").await;
    let queued = "cueme: one earlier request of this agent still waits for an answer\n";
    assert_eq!(two.stderr_with("earlier").await, queued);
    answer(&hub, &second, "two").await;
    assert_eq!(two.finish().ok(), answered("two"));
    answer(&hub, &first, "one").await;
    let ran = one.finish();
    assert_eq!(
        (ran.stdout.as_str(), ran.stderr.as_str()),
        (answered("one").as_str(), "")
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_without_a_process_is_superseded_by_a_new_one() {
    let hub = Hub::start().await;
    let shell = AgentShell::with_hub(&hub);
    let (mut one, first) = shell.waiting(&hub, "gavonel", "One?").await;
    let (two, second) = shell.waiting(&hub, "gavonel", "Two?").await;
    one.kill();
    until_gone(&hub, &first).await;
    let (three, third) = shell.waiting(&hub, "gavonel", "Three?").await;
    let stderr = three.stderr_with("earlier").await;
    assert!(stderr.contains(&format!("this replaces {first}\n")), "{stderr}");
    assert!(
        stderr.contains("one earlier request"),
        "the second request still waits: {stderr}"
    );
    assert_eq!(item(&hub, &third).await["source"]["supersedes"], json!(first));
    assert_eq!(item(&hub, &first).await["status"], "cancelled");
    answer(&hub, &third, "three").await;
    answer(&hub, &second, "two").await;
    assert_eq!(three.finish().ok(), answered("three"));
    assert_eq!(two.finish().ok(), answered("two"));
    let stderr = shell.run(&["resume", "gavonel"], "").fails(1);
    assert!(
        stderr.contains("no open request"),
        "a superseded request is not waited for: {stderr}"
    );
}

/// Suspends a process over a hub restart while another process of the same agent asks a new question. Returns the
/// output of the first process and the id of the request that superseded its own.
async fn supersede_sleeper(flags: &[&str]) -> (CommandOutput, String) {
    let mut hub = Hub::start().await;
    let shell = AgentShell::with_hub(&hub);
    let sleeper = shell.start(&[&["cue", "gavonel", "-"], flags].concat(), envelope("One?"));
    let first = wait_for_request(&hub, "One?").await;
    sleeper.signal("STOP");
    hub.interrupt();
    hub.restart().await;
    // A short-lived process, so that the hub sees the waiter of the request go away.
    let (mut brief, _) = shell.waiting(&hub, "gavonel", "One?").await;
    brief.kill();
    until_gone(&hub, &first).await;
    let (_two, second) = shell.waiting(&hub, "gavonel", "Two?").await;
    sleeper.signal("CONT");
    (sleeper.finish(), second)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_superseded_process_names_the_new_request() {
    let (ran, second) = supersede_sleeper(&[]).await;
    let text = ran.ok();
    assert!(
        text.contains(&format!("({second})")) && text.contains("cueme resume gavonel"),
        "{text}"
    );
    assert_eq!(text.lines().count(), 1, "{text}");
    let (ran, second) = supersede_sleeper(&["--json"]).await;
    let output: Value = serde_json::from_str(&ran.stdout).expect("JSON");
    assert_eq!(
        (ran.code, &output["status"], &output["superseded_by"]),
        (13, &json!("cancelled"), &json!(second))
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn type_ahead_answers_the_next_request() {
    let hub = Hub::start().await;
    let shell = AgentShell::with_hub(&hub);
    let agent_id = shell.join();
    let path = format!("/v1/terminals/{agent_id}/ahead");
    for text in ["first", "second"] {
        hub.owner.post(&path, &json!({ "text": text })).await.expect(201);
    }
    const AHEAD: &str = "Written before this question was asked.";
    let expected = |text: &str| format!("{}\nComment: {AHEAD}\n", answered(text));
    assert_eq!(shell.cue(&agent_id, "Ready?").finish().ok(), expected("first"));
    let second = shell.run(&["cue", &agent_id, "-", "--json"], envelope("Ready?")).json();
    assert_eq!((&second["text"], &second["comment"]), (&json!("second"), &json!(AHEAD)));
    let shown = hub.cli(&["show", second["id"].as_str().expect("an id")]).ok();
    assert!(shown.contains(AHEAD), "the item shows it too: {shown}");
    let (_process, id) = shell.waiting(&hub, &agent_id, "Ready?").await;
    assert_eq!(item(&hub, &id).await["status"], "open");
    assert_eq!(items(&hub).await.len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn presence_shows_waiting_paused_and_gone() {
    let hub = Hub::start().await;
    let shell = AgentShell::with_hub(&hub);
    let (mut process, id) = shell.waiting(&hub, "gavonel", "One?").await;
    assert_eq!(item(&hub, &id).await["presence"]["state"], "waiting");
    process.kill();
    until_gone(&hub, &id).await;
    let _paused = shell.start(&["pause", "bodimer", "Back soon"], "");
    let id = wait_for_request(&hub, "Back soon").await;
    assert_eq!(item(&hub, &id).await["presence"]["state"], "paused");
}
