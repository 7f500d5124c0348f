//! An operator who does not let runs wait for ever.

use serde_json::json;

use super::inbox::id_of;
use super::stage::*;
use crate::harness::*;

#[tokio::test(flavor = "multi_thread")]
async fn a_question_nobody_answers_in_time_fails_its_step() {
    let hub = Setup::default()
        .config("[runs]\ninput_timeout_seconds = 1\n")
        .start()
        .await;
    let mut client = Client::connect(&hub).await;
    let run = client.begin(&hub, &review(), "fish").await;
    client.asked().await;
    let id = id_of(&hub, &run).await;
    let (code, message) = client.failure().await;
    assert_eq!(code, "EXECUTION_ERROR");
    assert_eq!(
        message,
        "Step \"editor\" failed: Input request for agent \"editor\" timed out after 1000 ms"
    );
    let shown = hub.owner.get(&format!("/v1/inbox/{id}")).await.expect(200);
    assert_eq!(shown["status"], "expired", "{shown}");
    let late = json!({"type": "user_input", "runId": run, "agentName": "editor", "text": "late"});
    client.refused(late, "NO_PENDING_INPUT").await;
    assert_eq!(client.kept(&run).await["status"], "error");
}

#[tokio::test(flavor = "multi_thread")]
async fn time_that_runs_out_while_the_hub_is_away_has_run_out() {
    let mut hub = Setup::default()
        .config("[runs]\ninput_timeout_seconds = 1\n")
        .start()
        .await;
    let mut client = Client::connect(&hub).await;
    let run = client.begin(&hub, &review(), "fish").await;
    client.asked().await;
    hub.kill();
    hub.restart().await;
    let mut client = Client::connect(&hub).await;
    let kept = eventually("the time is over", async || {
        let kept = client.kept(&run).await;
        (kept["status"] != "running").then_some(kept)
    })
    .await;
    assert_eq!(kept["status"], "error", "{kept}");
    client.subscribe_after(&run, 0).await;
    let told = client.so_far().await;
    let message = told.last().unwrap()["error"]["message"].as_str().unwrap();
    assert!(message.contains("timed out after 1000 ms"), "{told:#?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn answers_that_race_the_time_are_taken_or_refused_and_never_both() {
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
        client.asked().await;
        runs.push(run);
    }
    let mut other = Client::connect(&hub).await;
    other.subscribe(&runs[0]).await;
    other.until("strategy_error").await;
    let mut silent = vec![];
    for run in &runs[1..] {
        other.answer(run, "user", "just in time").await;
        let told = other.so_far().await;
        if told.of("error").is_empty() {
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
