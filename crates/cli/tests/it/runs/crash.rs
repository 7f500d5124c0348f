//! The hub is killed: waiting runs keep waiting, and stored events and answers survive.

use serde_json::{Value, json};

use super::inbox::{id_of, item_of};
use super::stage::*;
use crate::harness::*;

/// Kills the hub with SIGKILL and restarts it.
async fn crash(hub: &mut Hub) {
    hub.kill();
    hub.restart().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_waiting_run_survives_a_kill_and_is_answered_in_the_inbox() {
    let mut hub = Hub::start().await;
    let mut client = Client::connect(&hub).await;
    let run = client.start_strategy(&hub, &review(), "fish").await;
    let ask = client.next_question().await;
    let item = item_of(&hub, &run).await;
    crash(&mut hub).await;
    assert_eq!(item_of(&hub, &run).await, item, "the same item, not a new one");
    let mut client = Client::connect(&hub).await;
    assert_eq!(client.live_run(&run).await["status"], "running");
    client.subscribe(&run).await;
    assert_eq!(client.next().await, ask, "the same question");
    hub.owner
        .answer(item["id"].as_str().unwrap(), "still here")
        .await
        .expect(200);
    let events = client.until("strategy_completed").await;
    assert_eq!(events.kinds()[..2], ["step_completed", "step_started"]);
    assert_eq!(events.last().unwrap()["result"], "still here");
    assert!(
        events.iter().all(|event| event["requestId"] == ask["requestId"]),
        "in the same segment: {events:#?}"
    );
    client.subscribe_after(&run, 0).await;
    let events_after = client.frames_so_far().await;
    let steps: Vec<&Value> = events_after
        .of_kind("step_started")
        .iter()
        .map(|event| &event["stepName"])
        .collect();
    assert_eq!(steps, ["draft", "editor", "print"], "no step ran twice");
    let event_seqs = seqs(&events_after);
    assert!(
        event_seqs.is_sorted_by(|a, b| a < b),
        "no seq is reused: {event_seqs:?}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_waiting_run_survives_a_kill_and_is_answered_on_the_socket() {
    let mut hub = Hub::start().await;
    let mut client = Client::connect(&hub).await;
    let run = client.start_strategy(&hub, &review(), "fish").await;
    let ask = client.next_question().await;
    for _ in 0..3 {
        crash(&mut hub).await;
    }
    let mut client = Client::connect(&hub).await;
    let id = id_of(&hub, &run).await;
    let answer =
        json!({"type": "user_input", "runId": run, "agentName": "editor", "text": "yes", "inputId": ask["inputId"]});
    client.subscribe(&run).await;
    client.expect("request_input").await;
    client.send(answer).await;
    assert_eq!(client.result().await, "yes");
    assert_eq!(
        hub.owner.get(&format!("/v1/inbox/{id}")).await.expect(200)["status"],
        "answered"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_killed_at_every_question_still_completes() {
    let mut hub = Hub::start().await;
    let agents = json!({"user": person(), "note": template("{{input}}.")});
    let strategy = cycle(agents, &["user", "note"], json!({"cycles": 5}));
    let mut client = Client::connect(&hub).await;
    let run = client.start_strategy(&hub, &strategy, "").await;
    for round in 0..5 {
        let ask = client.next_question().await;
        let prompt = if round == 0 {
            Value::Null
        } else {
            json!(format!("{}.", round - 1))
        };
        assert_eq!(ask["prompt"], prompt, "it continues where it was");
        crash(&mut hub).await;
        client = Client::connect(&hub).await;
        client.subscribe(&run).await;
        assert_eq!(client.next().await, ask);
        client.answer(&run, "user", &round.to_string()).await;
    }
    assert_eq!(client.result().await, "4.");
}

/// The hub is killed right after it acknowledged the answer, usually before the run continues.
#[tokio::test(flavor = "multi_thread")]
async fn an_acknowledged_answer_survives_a_kill_before_the_run_continues() {
    let mut hub = Hub::start().await;
    for round in 0..8 {
        let mut client = Client::connect(&hub).await;
        let run = client.start_strategy(&hub, &review(), "fish").await;
        client.next_question().await;
        let id = id_of(&hub, &run).await;
        let text = format!("round {round}");
        hub.owner.answer(&id, &text).await.expect(200);
        crash(&mut hub).await;
        let mut client = Client::connect(&hub).await;
        client.subscribe_after(&run, 0).await;
        // A separate connection, because events would mix with the replies.
        let mut watcher = Client::connect(&hub).await;
        let ended = eventually("the run ends", async || {
            let kept = watcher.stored_run(&run).await;
            (kept["status"] != "running").then_some(kept)
        })
        .await;
        assert_eq!(ended["status"], "completed", "{ended}");
        let events_after = client.frames_so_far().await;
        assert_eq!(
            events_after.last().expect("the end")["result"],
            json!(text),
            "{events_after:#?}"
        );
        assert_eq!(
            events_after.of_kind("step_completed").len(),
            3,
            "every step once: {events_after:#?}"
        );
        let event_seqs = seqs(&events_after);
        assert!(event_seqs.is_sorted_by(|a, b| a < b), "{event_seqs:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_pending_permission_survives_a_kill() {
    for decision in ["allow", "deny"] {
        let mut hub = Setup::default().config("[runs]\ncommands = \"ask\"\n").start().await;
        let mut client = Client::connect(&hub).await;
        let run = client
            .start_strategy(&hub, &alone(command("echo", &["hello"])), "")
            .await;
        let ask = client.until("request_permission").await.pop().unwrap();
        crash(&mut hub).await;
        let mut client = Client::connect(&hub).await;
        client.subscribe(&run).await;
        assert_eq!(client.next().await, ask);
        hub.owner.answer(&id_of(&hub, &run).await, decision).await.expect(200);
        if decision == "allow" {
            assert_eq!(client.result().await.trim_end(), "hello");
        } else {
            assert_eq!(client.failure().await.0, "EXECUTION_ERROR");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_models_question_survives_a_kill_with_its_conversation() {
    let model = Model::start().await;
    let mut hub = Setup::default().config(&model.config("")).start().await;
    model.script([calls(&[("call_1", "Which colour?")]), says(&["Blue it is."])]);
    let mut agent = llm();
    agent["tools"] = json!(["ask_question"]);
    let mut client = Client::connect(&hub).await;
    let run = client.start_strategy(&hub, &alone(agent), "Paint the door.").await;
    let ask = client.until("request_question").await.pop().unwrap();
    crash(&mut hub).await;
    let mut client = Client::connect(&hub).await;
    client.subscribe(&run).await;
    assert_eq!(client.next().await, ask);
    assert_eq!(model.request_count(), 1, "the model is not asked again");
    hub.owner.answer(&id_of(&hub, &run).await, "blue").await.expect(200);
    assert_eq!(client.result().await, "Blue it is.");
    let messages = model.requests(2).await[1].messages();
    let roles: Vec<&str> = messages.iter().map(|(role, _)| role.as_str()).collect();
    assert_eq!(roles, ["user", "assistant", "tool"]);
    assert_eq!(
        (messages[0].1.as_str(), messages[2].1.as_str()),
        ("Paint the door.", "blue")
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_killed_during_a_model_call_ends_and_can_be_continued() {
    let model = Model::start().await;
    let mut hub = Setup::default().config(&model.config("")).start().await;
    let agents = json!({"user": person(), "writer": llm()});
    let mut client = Client::connect(&hub).await;
    model.script([says(&["One."]), ModelReply::Hang]);
    let strategy = cycle(agents, &["user", "writer"], json!({"cycles": 2}));
    let run = client.start_strategy(&hub, &strategy, "Begin.").await;
    client.next_question().await;
    client.answer(&run, "user", "Go on.").await;
    model.requests(2).await;
    crash(&mut hub).await;
    let mut client = Client::connect(&hub).await;
    let kept = client.stored_run(&run).await;
    assert_eq!(
        (&kept["status"], kept["completedAt"].is_string()),
        (&json!("error"), true),
        "{kept}"
    );
    client.subscribe_after(&run, 0).await;
    let events_after = client.frames_so_far().await;
    let end = events_after.last().expect("an end");
    assert_eq!(
        (&end["type"], &end["error"]["code"]),
        (&json!("strategy_error"), &json!("DAEMON_RESTARTED")),
        "{end}"
    );
    assert!(
        end["error"]["message"].as_str().is_some_and(|text| !text.is_empty()),
        "{end}"
    );
    assert_eq!(model.request_count(), 2, "the model call is not repeated");
    let prepared = client
        .call(json!({"type": "prepare_run", "runId": run}), "run_prepared")
        .await;
    let records = prepared["conversation"]["records"].as_array().expect("records").clone();
    let message: Vec<&str> = records.iter().map(|record| record["text"].as_str().unwrap()).collect();
    assert_eq!(message, ["Begin.", "One.", "Go on."]);
    model.script([says(&["Two."]), says(&["Three."])]);
    client
        .send(json!({"type": "continue_run", "runId": run, "input": "Again."}))
        .await;
    assert!(seq(&client.expect("strategy_started").await) > seq(end));
    client.next_question().await;
    client.answer(&run, "user", "More.").await;
    assert_eq!(client.result().await, "Three.");
    let messages = model.requests(4).await[2].messages();
    let texts: Vec<&str> = messages.iter().map(|(_, text)| text.as_str()).collect();
    assert_eq!(
        texts,
        ["Begin.", "One.", "Again."],
        "the model gets the finished part of the conversation"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_killed_during_a_command_ends_and_the_command_is_not_repeated() {
    let mut hub = Setup::default().config("[runs]\ncommands = \"allow\"\n").start().await;
    let mut latch = Latch::new(&hub, "latch");
    let counted = hub.scratch().path("counted");
    let script = format!("echo once >> {}; cat {}", counted.display(), latch.path());
    let mut client = Client::connect(&hub).await;
    let run = client
        .start_strategy(&hub, &alone(command("sh", &["-c", &script])), "")
        .await;
    latch.until_reached().await;
    crash(&mut hub).await;
    latch.release();
    let mut client = Client::connect(&hub).await;
    client.subscribe_after(&run, 0).await;
    let events_after = client.frames_so_far().await;
    assert_eq!(
        events_after.last().unwrap()["error"]["code"],
        "DAEMON_RESTARTED",
        "{events_after:#?}"
    );
    assert_eq!(std::fs::read_to_string(counted).expect("it ran"), "once\n");
    assert_eq!(client.stored_run(&run).await["status"], "error");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_prepared_run_is_gone_after_a_crash() {
    let mut hub = Hub::start().await;
    let mut client = Client::connect(&hub).await;
    let run = client.prepare(&strategy_file(&hub, &talk())).await;
    crash(&mut hub).await;
    let mut client = Client::connect(&hub).await;
    let refusal = client
        .refused(json!({"type": "start_run", "runId": run}), "START_FAILED")
        .await;
    assert_eq!(refusal, format!("Prepared run not found: {run}"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_waiting_run_does_not_need_its_strategy_file() {
    let mut hub = Hub::start().await;
    let mut client = Client::connect(&hub).await;
    let path = strategy_file(&hub, &review());
    let run = client.prepare(&path).await;
    client.start(&run, "fish").await;
    client.next_question().await;
    std::fs::remove_file(path).expect("the file is there");
    crash(&mut hub).await;
    let mut client = Client::connect(&hub).await;
    client.subscribe(&run).await;
    client.expect("request_input").await;
    client.answer(&run, "editor", "fine").await;
    assert_eq!(client.result().await, "fine");
}
