//! Half-done work of a run when the hub is killed.

use serde_json::{Value, json};

use super::inbox::id_of;
use super::stage::*;
use crate::harness::*;

async fn crash(hub: &mut Hub) {
    hub.kill();
    hub.restart().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_streamed_seq_is_never_reused() {
    let ModelReply::Stream(mut parts) = says(&["one ", "two ", "three"]) else {
        unreachable!()
    };
    parts.truncate(4);
    parts.push(Part::Hold(Gate::shut()));
    let model = Model::start().await;
    model.script([ModelReply::Stream(parts)]);
    let mut hub = Setup::default().config(&model.config("")).start().await;
    let mut client = Client::connect(&hub).await;
    let run = client.start_strategy(&hub, &alone(llm()), "Hi.").await;
    let last = loop {
        let event = client.next().await;
        if event["event"]["text"] == "three" {
            break seq(&event);
        }
    };
    crash(&mut hub).await;
    let mut client = Client::connect(&hub).await;
    client.subscribe_after(&run, last).await;
    let replayed = client.frames_so_far().await;
    assert_eq!(replayed.kinds(), ["strategy_error"]);
    assert_eq!(replayed[0]["error"]["code"], "DAEMON_RESTARTED");
    assert!(seq(&replayed[0]) > last, "{replayed:#?}");
    client.continue_run(&run, "Again.").await;
    let events = client.until("strategy_completed").await;
    assert!(seqs(&events)[0] > seq(&replayed[0]));
}

#[tokio::test(flavor = "multi_thread")]
async fn of_two_questions_the_answered_one_stays_answered() {
    let model = Model::start().await;
    let mut hub = Setup::default().config(&model.config("")).start().await;
    model.script([
        calls(&[("call_1", "Which colour?"), ("call_2", "Which size?")]),
        says(&["Good."]),
    ]);
    let mut agent = llm();
    agent["tools"] = json!(["ask_question"]);
    let mut client = Client::connect(&hub).await;
    let run = client.start_strategy(&hub, &alone(agent), "Paint.").await;
    let first = client.until("request_question").await.pop().unwrap();
    let second = client.expect("request_question").await;
    let response = |question: &Value, text: &str| {
        let id = &question["requestId"];
        json!({"type": "question_response", "runId": run, "questionRequestId": id, "response": text})
    };
    client.send(response(&second, "large")).await;
    client.expect_silence().await;
    crash(&mut hub).await;
    let mut client = Client::connect(&hub).await;
    client.subscribe(&run).await;
    assert_eq!(
        client.frames_so_far().await,
        std::slice::from_ref(&first),
        "only the open question is sent again"
    );
    client.refused(response(&second, "small"), "NO_PENDING_QUESTION").await;
    client.send(response(&first, "blue")).await;
    assert_eq!(client.result().await, "Good.");
    let messages = model.requests(2).await[1].messages();
    let answers: Vec<&str> = messages
        .iter()
        .filter(|(role, _)| role == "tool")
        .map(|(_, text)| text.as_str())
        .collect();
    assert_eq!(answers, ["blue", "large"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_permission_survives_a_kill() {
    let mut hub = Setup::default().config("[runs]\ncommands = \"ask\"\n").start().await;
    let agents = json!({"tool": command("echo", &["hello"]), "user": person()});
    let strategy = cycle(agents, &["tool", "user"], json!({"cycles": 2}));
    let mut client = Client::connect(&hub).await;
    let run = client.start_strategy(&hub, &strategy, "").await;
    client.until("request_permission").await;
    hub.owner
        .answer(&id_of(&hub, &run).await, "allow-session")
        .await
        .expect(200);
    client.next_question().await;
    crash(&mut hub).await;
    let mut client = Client::connect(&hub).await;
    client.subscribe(&run).await;
    client.expect("request_input").await;
    client.answer(&run, "user", "again").await;
    let events = client.until("request_input").await;
    assert!(events.of_kind("request_permission").is_empty(), "{events:#?}");
    client.answer(&run, "user", "enough").await;
    assert_eq!(client.result().await, "enough");
}

/// The hub is killed repeatedly at random moments while answers arrive. Acknowledged answers survive, no step runs
/// twice, and every run completes.
#[tokio::test(flavor = "multi_thread")]
async fn runs_complete_despite_repeated_kills() {
    const RUNS: usize = 12;
    let mut hub = Hub::start().await;
    let agents = json!({"user": person(), "note": template("{{input}}")});
    let path = strategy_file(&hub, &cycle(agents, &["user", "note"], json!({"cycles": 4})));
    let mut clients = [Client::connect(&hub).await];
    let asks = waiting_runs(&mut clients, &path, RUNS).await;
    let runs: Vec<&str> = asks.iter().map(|ask| ask["runId"].as_str().expect("a run")).collect();
    for kill in 0..6 {
        let mut client = Client::connect(&hub).await;
        for (number, run) in runs.iter().enumerate() {
            client.answer(run, "user", &format!("{kill}")).await;
            if number % (kill + 2) == 0 {
                client.frames_so_far().await;
            }
        }
        crash(&mut hub).await;
    }
    let mut client = Client::connect(&hub).await;
    for run in runs {
        eventually(&format!("{run} ends"), async || {
            if client.live_run(run).await["status"] == "running" {
                client.answer(run, "user", "last").await;
                client.frames_so_far().await;
            }
            (client.stored_run(run).await["status"] == "completed").then_some(())
        })
        .await;
        client.subscribe_after(run, 0).await;
        let replayed = client.frames_so_far().await;
        assert!(seqs(&replayed).is_sorted_by(|a, b| a < b), "{replayed:#?}");
        assert_eq!(
            replayed.of_kind("step_completed").len(),
            8,
            "every step once: {replayed:#?}"
        );
        assert_eq!(
            replayed.of_kind("request_input").len(),
            4,
            "every question once: {replayed:#?}"
        );
        assert_eq!(replayed.of_kind("strategy_completed").len(), 1);
    }
}
