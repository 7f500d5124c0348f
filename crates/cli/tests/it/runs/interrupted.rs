//! What a run had half done when the hub was killed.

use serde_json::{Value, json};

use super::inbox::id_of;
use super::stage::*;
use crate::harness::*;

async fn crash(hub: &mut Hub) {
    hub.kill();
    hub.restart().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_number_that_was_streamed_is_never_given_again() {
    let Turn::Stream(mut parts) = says(&["one ", "two ", "three"]) else {
        unreachable!()
    };
    parts.truncate(4);
    parts.push(Part::Hold(Gate::shut()));
    let model = Model::start().await;
    model.script([Turn::Stream(parts)]);
    let mut hub = Setup::default().config(&model.config("")).start().await;
    let mut client = Client::connect(&hub).await;
    let run = client.begin(&hub, &alone(llm()), "Hi.").await;
    let last = loop {
        let event = client.next().await;
        if event["event"]["text"] == "three" {
            break seq(&event);
        }
    };
    crash(&mut hub).await;
    let mut client = Client::connect(&hub).await;
    client.subscribe_after(&run, last).await;
    let told = client.so_far().await;
    assert_eq!(told.kinds(), ["strategy_error"]);
    assert_eq!(told[0]["error"]["code"], "DAEMON_RESTARTED");
    assert!(seq(&told[0]) > last, "{told:#?}");
    client.proceed(&run, "Again.").await;
    let events = client.until("strategy_completed").await;
    assert!(seqs(&events)[0] > seq(&told[0]));
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
    let run = client.begin(&hub, &alone(agent), "Paint.").await;
    let first = client.until("request_question").await.pop().unwrap();
    let second = client.expect("request_question").await;
    let response = |question: &Value, text: &str| {
        let id = &question["requestId"];
        json!({"type": "question_response", "runId": run, "questionRequestId": id, "response": text})
    };
    client.send(response(&second, "large")).await;
    client.silence().await;
    crash(&mut hub).await;
    let mut client = Client::connect(&hub).await;
    client.subscribe(&run).await;
    assert_eq!(
        client.so_far().await,
        std::slice::from_ref(&first),
        "only what is open is asked again"
    );
    client.refused(response(&second, "small"), "NO_PENDING_QUESTION").await;
    client.send(response(&first, "blue")).await;
    assert_eq!(client.result().await, "Good.");
    let messages = model.asked(2).await[1].messages();
    let answers: Vec<&str> = messages
        .iter()
        .filter(|(role, _)| role == "tool")
        .map(|(_, text)| text.as_str())
        .collect();
    assert_eq!(answers, ["blue", "large"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_permission_for_the_session_outlives_a_kill() {
    let mut hub = Setup::default().config("[runs]\ncommands = \"ask\"\n").start().await;
    let agents = json!({"tool": command("echo", &["hello"]), "user": person()});
    let strategy = cycle(agents, &["tool", "user"], json!({"cycles": 2}));
    let mut client = Client::connect(&hub).await;
    let run = client.begin(&hub, &strategy, "").await;
    client.until("request_permission").await;
    hub.owner
        .answer(&id_of(&hub, &run).await, "allow-session")
        .await
        .expect(200);
    client.asked().await;
    crash(&mut hub).await;
    let mut client = Client::connect(&hub).await;
    client.subscribe(&run).await;
    client.expect("request_input").await;
    client.answer(&run, "user", "again").await;
    let events = client.until("request_input").await;
    assert!(events.of("request_permission").is_empty(), "{events:#?}");
    client.answer(&run, "user", "enough").await;
    assert_eq!(client.result().await, "enough");
}

/// The hub dies at whatever moment it happens to be in, again and again, while answers pour in; what was acknowledged
/// counts, nothing is done twice, and every run that waits comes to its end.
#[tokio::test(flavor = "multi_thread")]
async fn runs_come_to_their_end_however_often_the_hub_dies_in_the_middle() {
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
                client.so_far().await;
            }
        }
        crash(&mut hub).await;
    }
    let mut client = Client::connect(&hub).await;
    for run in runs {
        eventually(&format!("{run} ends"), async || {
            if client.live(run).await["status"] == "running" {
                client.answer(run, "user", "last").await;
                client.so_far().await;
            }
            (client.kept(run).await["status"] == "completed").then_some(())
        })
        .await;
        client.subscribe_after(run, 0).await;
        let told = client.so_far().await;
        assert!(seqs(&told).is_sorted_by(|a, b| a < b), "{told:#?}");
        assert_eq!(told.of("step_completed").len(), 8, "every step once: {told:#?}");
        assert_eq!(told.of("request_input").len(), 4, "every question once: {told:#?}");
        assert_eq!(told.of("strategy_completed").len(), 1);
    }
}
