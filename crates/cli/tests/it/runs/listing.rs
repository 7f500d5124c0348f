//! Listing live and stored runs.

use serde_json::{Value, json};

use super::stage::*;
use crate::harness::*;

#[tokio::test(flavor = "multi_thread")]
async fn live_runs_are_listed_with_status_and_pending_inputs() {
    let hub = Hub::start().await;
    let mut client = Client::connect(&hub).await;
    assert_eq!(
        client.call(json!({"type": "list_strategies"}), "strategy_list").await["runs"],
        json!([])
    );
    let prepared = client.prepare(&strategy_file(&hub, &talk())).await;
    let entry = client.live_run(&prepared).await;
    assert_eq!(field_names(&entry), ["runId", "startedAt", "status", "strategyName"]);
    assert_eq!(
        (&entry["status"], &entry["strategyName"]),
        (&json!("pending"), &json!("Test strategy"))
    );
    let waiting = client.start_strategy(&hub, &review(), "fish").await;
    let ask = client.next_question().await;
    let entry = client.live_run(&waiting).await;
    assert_eq!(entry["status"], "running", "the wire has no separate waiting status");
    let pending = json!([{"agentName": "editor", "inputId": ask["inputId"], "prompt": "Draft: fish", "ts": ask["ts"]}]);
    assert_eq!(entry["pendingInputs"], pending);
    client.answer(&waiting, "editor", "fine").await;
    client.result().await;
    let entry = client.live_run(&waiting).await;
    assert_eq!(
        field_names(&entry),
        ["completedAt", "runId", "startedAt", "status", "strategyName"]
    );
    assert_eq!(entry["status"], "completed");
    let failing = client.start_strategy(&hub, &alone(command("true", &[])), "").await;
    client.failure().await;
    assert_eq!(client.live_run(&failing).await["status"], "error");
    client.stop(&prepared).await;
    client.failure().await;
    let gone = client.live_run(&prepared).await;
    assert!(gone.is_null() || gone["status"] == "cancelled", "{gone}");
}

#[tokio::test(flavor = "multi_thread")]
async fn stored_runs_are_listed_newest_first_and_survive_a_restart() {
    let mut hub = Hub::start().await;
    let mut client = Client::connect(&hub).await;
    let path = strategy_file(&hub, &talk());
    client.prepare(&path).await;
    assert_eq!(
        client.call(json!({"type": "list_runs"}), "run_list").await["runs"],
        json!([]),
        "not yet started"
    );
    let mut runs = vec![];
    for _ in 0..3 {
        let run = client.prepare(&path).await;
        client.start(&run, "").await;
        client.next_question().await;
        runs.insert(0, run);
    }
    client.answer(&runs[1], "user", "hello").await;
    client.result().await;
    drop(client);
    for _ in 0..2 {
        let mut client = Client::connect(&hub).await;
        let listed = client.call(json!({"type": "list_runs"}), "run_list").await["runs"].clone();
        let listed = listed.as_array().expect("runs");
        assert_eq!(
            listed
                .iter()
                .map(|run| run["runId"].as_str().unwrap())
                .collect::<Vec<_>>(),
            runs
        );
        for (entry, status) in listed.iter().zip(["running", "completed", "running"]) {
            let names = [
                "completedAt",
                "cwd",
                "runId",
                "startedAt",
                "status",
                "strategyName",
                "strategyPath",
            ];
            assert_eq!(field_names(entry), names);
            assert_eq!(
                (&entry["status"], entry["completedAt"].is_null()),
                (&json!(status), status == "running")
            );
            assert_eq!(
                (&entry["strategyName"], &entry["strategyPath"]),
                (&json!("Test strategy"), &json!(path))
            );
        }
        drop(client);
        hub.interrupt();
        hub.restart().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn stored_runs_are_filtered_by_exact_directory() {
    let hub = Hub::start().await;
    let mut client = Client::connect(&hub).await;
    let path = strategy_file(&hub, &talk());
    let home = hub.scratch().home();
    let data = hub.data();
    for cwd in [&home, &data, &home] {
        let message = json!({"type": "prepare_run", "strategyPath": path, "cwd": cwd});
        let run = client.call(message, "run_prepared").await["runId"]
            .as_str()
            .unwrap()
            .to_owned();
        client.start(&run, "x").await;
        client.result().await;
    }
    let listed = async |client: &mut Client, cwd: Value| {
        let listed = client.call(json!({"type": "list_runs", "cwd": cwd}), "run_list").await;
        listed["runs"].as_array().expect("runs").clone()
    };
    let found = listed(&mut client, json!(home)).await;
    assert_eq!(found.len(), 2);
    assert!(found.iter().all(|run| run["cwd"] == json!(home)));
    assert_eq!(listed(&mut client, json!(data)).await.len(), 1);
    let parent = home.parent().unwrap();
    assert_eq!(
        listed(&mut client, json!(parent)).await.len(),
        0,
        "subdirectories do not match"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_continued_run_is_listed_once_with_its_latest_segment() {
    let hub = Hub::start().await;
    let mut client = Client::connect(&hub).await;
    let run = client.start_strategy(&hub, &talk(), "x").await;
    client.result().await;
    client.continue_run(&run, "").await;
    client.next_question().await;
    let listed = client.call(json!({"type": "list_runs"}), "run_list").await["runs"].clone();
    assert_eq!(listed.as_array().map(Vec::len), Some(1), "{listed}");
    assert_eq!(
        (&listed[0]["status"], &listed[0]["completedAt"]),
        (&json!("running"), &Value::Null)
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn health_counts_runs_and_clients() {
    let hub = Hub::start().await;
    let health = async || hub.anonymous().get("/health").await.expect(200);
    let counts = async |runs: u64, clients: u64| {
        eventually(&format!("{runs} runs and {clients} clients"), async || {
            let now = health().await;
            (now["activeRuns"] == runs && now["connectedClients"] == clients).then_some(())
        })
        .await;
    };
    counts(0, 0).await;
    let mut client = Client::connect(&hub).await;
    counts(0, 1).await;
    let other = Client::connect(&hub).await;
    counts(0, 2).await;
    let run = client.prepare(&strategy_file(&hub, &talk())).await;
    counts(1, 2).await;
    client.start(&run, "").await;
    client.next_question().await;
    counts(1, 2).await;
    drop(other);
    counts(1, 1).await;
    client.answer(&run, "user", "hello").await;
    client.result().await;
    counts(0, 1).await;
    drop(client);
    counts(0, 0).await;
    let first = health().await["uptime"].clone();
    let second = health().await["uptime"].clone();
    assert!(
        first.as_u64().unwrap() <= second.as_u64().unwrap(),
        "milliseconds since the start"
    );
    assert_eq!(
        field_names(&health().await),
        ["activeRuns", "connectedClients", "status", "uptime"]
    );
}
