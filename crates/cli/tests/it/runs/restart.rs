//! The hub is stopped as it should be. Check 15.

use serde_json::{Value, json};

use super::inbox::id_of;
use super::stage::*;
use crate::harness::*;

const GOING: (u16, &str) = (1001, "Server shutting down");

fn going() -> Option<(u16, String)> {
    Some((GOING.0, GOING.1.to_owned()))
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stop_cancels_what_is_at_work_and_says_goodbye() {
    let model = Model::start().await;
    let mut hub = Setup::default().config(&model.config("")).start().await;
    model.script([Turn::Hang]);
    let mut client = Client::connect(&hub).await;
    let mut idle = Client::connect(&hub).await;
    let run = client.begin(&hub, &alone(llm()), "hello").await;
    model.asked(1).await;
    hub.interrupt();
    let (told, end) = client.closed().await;
    let last = told.last().expect("an end");
    assert_eq!(
        (&last["type"], &last["error"]["code"]),
        (&json!("strategy_error"), &json!("CANCELLED")),
        "{told:#?}"
    );
    assert_eq!(
        last["error"]["message"], "Run cancelled because the hub was stopped",
        "no client did"
    );
    assert_eq!(told.of("strategy_error").len(), 1, "{told:#?}");
    assert_eq!(end, going());
    assert_eq!(idle.closed().await, (vec![], going()));
    hub.restart().await;
    let mut client = Client::connect(&hub).await;
    let kept = client.kept(&run).await;
    assert_eq!(
        (&kept["status"], kept["completedAt"].is_string()),
        (&json!("cancelled"), true),
        "{kept}"
    );
    client.subscribe_after(&run, 0).await;
    let told = client.so_far().await;
    assert_eq!(told.of("strategy_error").len(), 1, "{told:#?}");
    assert_eq!(told.last().unwrap()["error"]["code"], "CANCELLED");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stop_ends_a_command_at_work_with_everything_it_started() {
    let mut hub = Setup::default().config("[runs]\ncommands = \"allow\"\n").start().await;
    let mut latch = Latch::new(&hub, "latch");
    let ids = hub.scratch().path("ids");
    let script = format!("cat {} & echo $! >> {ids}; wait", latch.path(), ids = ids.display());
    let mut client = Client::connect(&hub).await;
    let run = client.begin(&hub, &alone(command("sh", &["-c", &script])), "").await;
    latch.is_waited_at().await;
    let child = eventually("the command tells its child", async || {
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
    assert_eq!(Client::connect(&hub).await.kept(&run).await["status"], "cancelled");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_that_waits_for_a_person_waits_through_a_restart() {
    let mut hub = Hub::start().await;
    let mut client = Client::connect(&hub).await;
    let run = client.begin(&hub, &review(), "fish").await;
    let ask = client.asked().await;
    let id = id_of(&hub, &run).await;
    hub.interrupt();
    assert_eq!(
        client.closed().await,
        (vec![], going()),
        "nothing is told of a run that goes on waiting"
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
async fn an_operator_may_have_waiting_runs_cancelled_at_a_stop() {
    let mut hub = Setup::default().config("[runs]\non_stop = \"cancel\"\n").start().await;
    let mut client = Client::connect(&hub).await;
    let run = client.begin(&hub, &review(), "fish").await;
    client.asked().await;
    let id = id_of(&hub, &run).await;
    hub.interrupt();
    let (told, end) = client.closed().await;
    assert_eq!(told.kinds(), ["strategy_error"]);
    assert_eq!((&told[0]["error"]["code"], end), (&json!("CANCELLED"), going()));
    hub.restart().await;
    let mut client = Client::connect(&hub).await;
    assert_eq!(client.kept(&run).await["status"], "cancelled");
    assert_eq!(
        hub.owner.get(&format!("/v1/inbox/{id}")).await.expect(200)["status"],
        "cancelled"
    );
    let late = json!({"type": "user_input", "runId": run, "agentName": "editor", "text": "late"});
    client.refused(late, "NO_PENDING_INPUT").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_word_for_stopping_that_is_none_is_refused_at_the_start() {
    let said = Setup::default()
        .config("[runs]\non_stop = \"maybe\"\n")
        .refused()
        .fails(1);
    assert!(said.contains("on_stop"), "{said}");
}

/// Runs in every state at once: each comes back as it was or ends as it must.
#[tokio::test(flavor = "multi_thread")]
async fn many_runs_in_every_state_come_through_a_restart() {
    let mut hub = Hub::start().await;
    let mut client = Client::connect(&hub).await;
    let path = strategy_file(&hub, &review());
    let mut expected: Vec<(String, Value)> = vec![];
    for number in 0..40 {
        let run = client.prepare(&path).await;
        client.start(&run, "fish").await;
        client.asked().await;
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
        assert_eq!(&client.kept(run).await["status"], status, "{run}");
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
