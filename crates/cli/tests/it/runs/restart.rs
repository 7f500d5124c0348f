//! Graceful shutdown and restart.

use serde_json::{Value, json};

use super::inbox::id_of;
use super::stage::*;
use crate::harness::*;

const SHUTDOWN_CLOSE: (u16, &str) = (1001, "Server shutting down");

fn shutdown_close() -> Option<(u16, String)> {
    Some((SHUTDOWN_CLOSE.0, SHUTDOWN_CLOSE.1.to_owned()))
}

#[tokio::test(flavor = "multi_thread")]
async fn shutdown_cancels_working_runs_and_closes_connections() {
    let model = Model::start().await;
    let mut hub = Setup::default().config(&model.config("")).start().await;
    model.script([ModelReply::Hang]);
    let mut client = Client::connect(&hub).await;
    let mut idle = Client::connect(&hub).await;
    let run = client.start_strategy(&hub, &alone(llm()), "hello").await;
    model.requests(1).await;
    hub.interrupt();
    let (frames, end) = client.closed().await;
    let last = frames.last().expect("an end");
    assert_eq!(
        (&last["type"], &last["error"]["code"]),
        (&json!("strategy_error"), &json!("CANCELLED")),
        "{frames:#?}"
    );
    assert_eq!(
        last["error"]["message"], "Run cancelled because the hub was stopped",
        "not cancelled by a client"
    );
    assert_eq!(frames.of_kind("strategy_error").len(), 1, "{frames:#?}");
    assert_eq!(end, shutdown_close());
    assert_eq!(idle.closed().await, (vec![], shutdown_close()));
    hub.restart().await;
    let mut client = Client::connect(&hub).await;
    let kept = client.stored_run(&run).await;
    assert_eq!(
        (&kept["status"], kept["completedAt"].is_string()),
        (&json!("cancelled"), true),
        "{kept}"
    );
    client.subscribe_after(&run, 0).await;
    let frames = client.frames_so_far().await;
    assert_eq!(frames.of_kind("strategy_error").len(), 1, "{frames:#?}");
    assert_eq!(frames.last().unwrap()["error"]["code"], "CANCELLED");
}

#[tokio::test(flavor = "multi_thread")]
async fn shutdown_kills_the_whole_process_group_of_a_command() {
    let mut hub = Setup::default().config("[runs]\ncommands = \"allow\"\n").start().await;
    let mut latch = Latch::new(&hub, "latch");
    let ids = hub.scratch().path("ids");
    let script = format!("cat {} & echo $! >> {ids}; wait", latch.path(), ids = ids.display());
    let mut client = Client::connect(&hub).await;
    let run = client
        .start_strategy(&hub, &alone(command("sh", &["-c", &script])), "")
        .await;
    latch.until_reached().await;
    let child = eventually("the command writes its child's process id", async || {
        std::fs::read_to_string(&ids)
            .ok()
            .and_then(|text| text.trim().parse::<u32>().ok())
    })
    .await;
    hub.interrupt();
    assert_eq!(
        client.closed().await.0.last().expect("an end")["error"]["code"],
        "CANCELLED"
    );
    super::commands::until_gone(child).await;
    hub.restart().await;
    assert_eq!(
        Client::connect(&hub).await.stored_run(&run).await["status"],
        "cancelled"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_waiting_run_survives_a_restart() {
    let mut hub = Hub::start().await;
    let mut client = Client::connect(&hub).await;
    let run = client.start_strategy(&hub, &review(), "fish").await;
    let ask = client.next_question().await;
    let id = id_of(&hub, &run).await;
    hub.interrupt();
    assert_eq!(
        client.closed().await,
        (vec![], shutdown_close()),
        "no event for a run that keeps waiting"
    );
    hub.restart().await;
    assert_eq!(id_of(&hub, &run).await, id, "the same item");
    let mut client = Client::connect(&hub).await;
    client.subscribe(&run).await;
    assert_eq!(client.next().await, ask);
    client.answer(&run, "editor", "fine").await;
    assert_eq!(client.result().await, "fine");
}

#[tokio::test(flavor = "multi_thread")]
async fn on_stop_cancel_cancels_waiting_runs() {
    let mut hub = Setup::default().config("[runs]\non_stop = \"cancel\"\n").start().await;
    let mut client = Client::connect(&hub).await;
    let run = client.start_strategy(&hub, &review(), "fish").await;
    client.next_question().await;
    let id = id_of(&hub, &run).await;
    hub.interrupt();
    let (frames, end) = client.closed().await;
    assert_eq!(frames.kinds(), ["strategy_error"]);
    assert_eq!(
        (&frames[0]["error"]["code"], end),
        (&json!("CANCELLED"), shutdown_close())
    );
    hub.restart().await;
    let mut client = Client::connect(&hub).await;
    assert_eq!(client.stored_run(&run).await["status"], "cancelled");
    assert_eq!(
        hub.owner.get(&format!("/v1/inbox/{id}")).await.expect(200)["status"],
        "cancelled"
    );
    let late = json!({"type": "user_input", "runId": run, "agentName": "editor", "text": "late"});
    client.refused(late, "NO_PENDING_INPUT").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_unknown_on_stop_value_is_refused_at_startup() {
    let stderr = Setup::default()
        .config("[runs]\non_stop = \"maybe\"\n")
        .refused()
        .fails(1);
    assert!(stderr.contains("on_stop"), "{stderr}");
}

/// Runs in every state keep their status over a restart.
#[tokio::test(flavor = "multi_thread")]
async fn runs_in_every_state_survive_a_restart() {
    let mut hub = Hub::start().await;
    let mut client = Client::connect(&hub).await;
    let path = strategy_file(&hub, &review());
    let mut expected: Vec<(String, Value)> = vec![];
    for number in 0..40 {
        let run = client.prepare(&path).await;
        client.start(&run, "fish").await;
        client.next_question().await;
        let status = match number % 4 {
            0 => {
                client.answer(&run, "editor", "fine").await;
                client.result().await;
                "completed"
            }
            1 => {
                client.stop(&run).await;
                client.failure().await;
                "cancelled"
            }
            _ => "running",
        };
        expected.push((run, json!(status)));
    }
    hub.interrupt();
    hub.restart().await;
    let mut client = Client::connect(&hub).await;
    for (run, status) in &expected {
        assert_eq!(&client.stored_run(run).await["status"], status, "{run}");
    }
    let waiting: Vec<&String> = expected
        .iter()
        .filter(|(_, status)| status == "running")
        .map(|(run, _)| run)
        .collect();
    assert_eq!(hub.owner.get("/health").await.expect(200)["activeRuns"], waiting.len());
    for run in waiting {
        client.subscribe(run).await;
        client.expect("request_input").await;
        client.answer(run, "editor", "fine").await;
        assert_eq!(client.result().await, "fine");
    }
}
