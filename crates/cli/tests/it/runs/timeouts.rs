//! Input timeouts of runs.

use serde_json::json;

use super::inbox::id_of;
use super::stage::*;
use crate::harness::*;

#[tokio::test(flavor = "multi_thread")]
async fn an_unanswered_question_times_out_and_fails_its_step() {
    let hub = Setup::default()
        .config("[runs]\ninput_timeout_seconds = 5\n")
        .start()
        .await;
    let mut client = Client::connect(&hub).await;
    let run = client.start_strategy(&hub, &review(), "fish").await;
    client.next_question().await;
    let id = id_of(&hub, &run).await;
    let (code, message) = client.failure().await;
    assert_eq!(code, "EXECUTION_ERROR");
    assert_eq!(
        message,
        "Step \"editor\" failed: Input request for agent \"editor\" timed out after 5000 ms"
    );
    let shown = hub.owner.get(&format!("/v1/inbox/{id}")).await.expect(200);
    assert_eq!(shown["status"], "expired", "{shown}");
    let late = json!({"type": "user_input", "runId": run, "agentName": "editor", "text": "late"});
    client.refused(late, "NO_PENDING_INPUT").await;
    assert_eq!(client.stored_run(&run).await["status"], "error");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_timeout_while_the_hub_is_down_counts() {
    let mut hub = Setup::default()
        .config("[runs]\ninput_timeout_seconds = 1\n")
        .start()
        .await;
    let mut client = Client::connect(&hub).await;
    let run = client.start_strategy(&hub, &review(), "fish").await;
    client.next_question().await;
    hub.kill();
    hub.restart().await;
    let mut client = Client::connect(&hub).await;
    let stored = eventually("the question times out", async || {
        let stored = client.stored_run(&run).await;
        (stored["status"] != "running").then_some(stored)
    })
    .await;
    assert_eq!(stored["status"], "error", "{stored}");
    client.subscribe_after(&run, 0).await;
    let frames = client.frames_so_far().await;
    let message = frames.last().unwrap()["error"]["message"].as_str().unwrap();
    assert!(message.contains("timed out after 1000 ms"), "{frames:#?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn answers_racing_the_timeout_are_accepted_or_refused() {
    let hub = Setup::default()
        .config("[runs]\ninput_timeout_seconds = 1\n")
        .start()
        .await;
    let mut client = Client::connect(&hub).await;
    let path = strategy_file(&hub, &talk());
    let mut ends = std::collections::HashMap::new();
    let mut runs = vec![];
    for _ in 0..20 {
        let run = client.prepare(&path).await;
        client.start(&run, "").await;
        client.next_question().await;
        runs.push(run);
    }
    let mut other = Client::connect(&hub).await;
    other.subscribe(&runs[0]).await;
    other.until("strategy_error").await;
    let mut silent = vec![];
    for run in &runs[1..] {
        other.answer(run, "user", "just in time").await;
        let frames = other.frames_so_far().await;
        if frames.of_kind("error").is_empty() {
            silent.push(run.clone());
        }
    }
    while ends.len() < runs.len() {
        let frame = client.next().await;
        if frame["type"] == "strategy_error" || frame["type"] == "strategy_completed" {
            ends.insert(
                frame["runId"].as_str().unwrap().to_owned(),
                frame["type"] == "strategy_completed",
            );
        }
    }
    for run in &runs[1..] {
        assert_eq!(ends[run], silent.contains(run), "{run}");
    }
}
