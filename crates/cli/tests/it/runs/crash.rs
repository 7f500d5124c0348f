//! The hub is killed; what waited still waits, and what was said stays said.

use serde_json::{Value, json};

use super::inbox::{id_of, item_of};
use super::stage::*;
use crate::harness::*;

/// As `kill -9` does it, and up again.
async fn crash(hub: &mut Hub) {
    hub.kill();
    hub.restart().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_that_waits_survives_a_kill_and_is_answered_in_the_inbox() {
    let mut hub = Hub::start().await;
    let mut client = Client::connect(&hub).await;
    let run = client.begin(&hub, &review(), "fish").await;
    let ask = client.asked().await;
    let item = item_of(&hub, &run).await;
    crash(&mut hub).await;
    assert_eq!(item_of(&hub, &run).await, item, "the same item, not a new one");
    let mut client = Client::connect(&hub).await;
    assert_eq!(client.live(&run).await["status"], "running");
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
        "of the same segment: {events:#?}"
    );
    client.subscribe_after(&run, 0).await;
    let told = client.so_far().await;
    let steps: Vec<&Value> = told.of("step_started").iter().map(|event| &event["stepName"]).collect();
    assert_eq!(steps, ["draft", "editor", "print"], "nothing was done twice");
    let numbers = seqs(&told);
    assert!(
        numbers.is_sorted_by(|a, b| a < b),
        "numbers are not given twice: {numbers:?}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_that_waits_survives_a_kill_and_is_answered_on_the_socket() {
    let mut hub = Hub::start().await;
    let mut client = Client::connect(&hub).await;
    let run = client.begin(&hub, &review(), "fish").await;
    let ask = client.asked().await;
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
async fn a_run_is_killed_at_every_question_and_still_comes_to_its_end() {
    let mut hub = Hub::start().await;
    let agents = json!({"user": person(), "note": template("{{input}}.")});
    let strategy = cycle(agents, &["user", "note"], json!({"cycles": 5}));
    let mut client = Client::connect(&hub).await;
    let run = client.begin(&hub, &strategy, "").await;
    for round in 0..5 {
        let ask = client.asked().await;
        let prompt = if round == 0 {
            Value::Null
        } else {
            json!(format!("{}.", round - 1))
        };
        assert_eq!(ask["prompt"], prompt, "it goes on from where it was");
        crash(&mut hub).await;
        client = Client::connect(&hub).await;
        client.subscribe(&run).await;
        assert_eq!(client.next().await, ask);
        client.answer(&run, "user", &round.to_string()).await;
    }
    assert_eq!(client.result().await, "4.");
}

/// The answer is acknowledged and the hub dies at once, most often before the run went on.
#[tokio::test(flavor = "multi_thread")]
async fn an_acknowledged_answer_counts_though_the_hub_dies_before_the_run_goes_on() {
    let mut hub = Hub::start().await;
    for round in 0..8 {
        let mut client = Client::connect(&hub).await;
        let run = client.begin(&hub, &review(), "fish").await;
        client.asked().await;
        let id = id_of(&hub, &run).await;
        let text = format!("round {round}");
        hub.owner.answer(&id, &text).await.expect(200);
        crash(&mut hub).await;
        let mut client = Client::connect(&hub).await;
        client.subscribe_after(&run, 0).await;
        // On a connection of its own: events would come between the replies.
        let mut watcher = Client::connect(&hub).await;
        let ended = eventually("the run comes to its end", async || {
            let kept = watcher.kept(&run).await;
            (kept["status"] != "running").then_some(kept)
        })
        .await;
        assert_eq!(ended["status"], "completed", "{ended}");
        let told = client.so_far().await;
        assert_eq!(told.last().expect("the end")["result"], json!(text), "{told:#?}");
        assert_eq!(told.of("step_completed").len(), 3, "every step once: {told:#?}");
        let numbers = seqs(&told);
        assert!(numbers.is_sorted_by(|a, b| a < b), "{numbers:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_permission_that_is_asked_for_survives_a_kill() {
    for decision in ["allow", "deny"] {
        let mut hub = Setup::default().config("[runs]\ncommands = \"ask\"\n").start().await;
        let mut client = Client::connect(&hub).await;
        let run = client.begin(&hub, &alone(command("echo", &["hello"])), "").await;
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
async fn a_question_of_a_model_survives_a_kill_with_the_conversation_around_it() {
    let model = Model::start().await;
    let mut hub = Setup::default().config(&model.config("")).start().await;
    model.script([calls(&[("call_1", "Which colour?")]), says(&["Blue it is."])]);
    let mut agent = llm();
    agent["tools"] = json!(["ask_question"]);
    let mut client = Client::connect(&hub).await;
    let run = client.begin(&hub, &alone(agent), "Paint the door.").await;
    let ask = client.until("request_question").await.pop().unwrap();
    crash(&mut hub).await;
    let mut client = Client::connect(&hub).await;
    client.subscribe(&run).await;
    assert_eq!(client.next().await, ask);
    assert_eq!(model.asked_so_far(), 1, "the model is not asked again");
    hub.owner.answer(&id_of(&hub, &run).await, "blue").await.expect(200);
    assert_eq!(client.result().await, "Blue it is.");
    let messages = model.asked(2).await[1].messages();
    let roles: Vec<&str> = messages.iter().map(|(role, _)| role.as_str()).collect();
    assert_eq!(roles, ["user", "assistant", "tool"]);
    assert_eq!(
        (messages[0].1.as_str(), messages[2].1.as_str()),
        ("Paint the door.", "blue")
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_cut_in_a_models_work_ends_and_can_be_continued() {
    let model = Model::start().await;
    let mut hub = Setup::default().config(&model.config("")).start().await;
    let agents = json!({"user": person(), "writer": llm()});
    let mut client = Client::connect(&hub).await;
    model.script([says(&["One."]), Turn::Hang]);
    let strategy = cycle(agents, &["user", "writer"], json!({"cycles": 2}));
    let run = client.begin(&hub, &strategy, "Begin.").await;
    client.asked().await;
    client.answer(&run, "user", "Go on.").await;
    model.asked(2).await;
    crash(&mut hub).await;
    let mut client = Client::connect(&hub).await;
    let kept = client.kept(&run).await;
    assert_eq!(
        (&kept["status"], kept["completedAt"].is_string()),
        (&json!("error"), true),
        "{kept}"
    );
    client.subscribe_after(&run, 0).await;
    let told = client.so_far().await;
    let end = told.last().expect("an end");
    assert_eq!(
        (&end["type"], &end["error"]["code"]),
        (&json!("strategy_error"), &json!("DAEMON_RESTARTED")),
        "{end}"
    );
    assert!(
        end["error"]["message"].as_str().is_some_and(|text| !text.is_empty()),
        "{end}"
    );
    assert_eq!(model.asked_so_far(), 2, "and the model is not asked again by itself");
    let prepared = client
        .call(json!({"type": "prepare_run", "runId": run}), "run_prepared")
        .await;
    let records = prepared["conversation"]["records"].as_array().expect("records").clone();
    let said: Vec<&str> = records.iter().map(|record| record["text"].as_str().unwrap()).collect();
    assert_eq!(said, ["Begin.", "One.", "Go on."]);
    model.script([says(&["Two."]), says(&["Three."])]);
    client
        .send(json!({"type": "continue_run", "runId": run, "input": "Again."}))
        .await;
    assert!(seq(&client.expect("strategy_started").await) > seq(end));
    client.asked().await;
    client.answer(&run, "user", "More.").await;
    assert_eq!(client.result().await, "Three.");
    let messages = model.asked(4).await[2].messages();
    let texts: Vec<&str> = messages.iter().map(|(_, text)| text.as_str()).collect();
    assert_eq!(
        texts,
        ["Begin.", "One.", "Again."],
        "the model remembers what was finished"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_cut_in_a_command_ends_and_the_command_is_not_repeated() {
    let mut hub = Setup::default().config("[runs]\ncommands = \"allow\"\n").start().await;
    let mut latch = Latch::new(&hub, "latch");
    let counted = hub.scratch().path("counted");
    let script = format!("echo once >> {}; cat {}", counted.display(), latch.path());
    let mut client = Client::connect(&hub).await;
    let run = client.begin(&hub, &alone(command("sh", &["-c", &script])), "").await;
    latch.is_waited_at().await;
    crash(&mut hub).await;
    latch.release();
    let mut client = Client::connect(&hub).await;
    client.subscribe_after(&run, 0).await;
    let told = client.so_far().await;
    assert_eq!(told.last().unwrap()["error"]["code"], "DAEMON_RESTARTED", "{told:#?}");
    assert_eq!(std::fs::read_to_string(counted).expect("it ran"), "once\n");
    assert_eq!(client.kept(&run).await["status"], "error");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_that_was_only_prepared_is_gone_after_a_crash() {
    let mut hub = Hub::start().await;
    let mut client = Client::connect(&hub).await;
    let run = client.prepare(&strategy_file(&hub, &talk())).await;
    crash(&mut hub).await;
    let mut client = Client::connect(&hub).await;
    let said = client
        .refused(json!({"type": "start_run", "runId": run}), "START_FAILED")
        .await;
    assert_eq!(said, format!("Prepared run not found: {run}"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_waiting_run_needs_no_strategy_file_any_more() {
    let mut hub = Hub::start().await;
    let mut client = Client::connect(&hub).await;
    let path = strategy_file(&hub, &review());
    let run = client.prepare(&path).await;
    client.start(&run, "fish").await;
    client.asked().await;
    std::fs::remove_file(path).expect("the file is there");
    crash(&mut hub).await;
    let mut client = Client::connect(&hub).await;
    client.subscribe(&run).await;
    client.expect("request_input").await;
    client.answer(&run, "editor", "fine").await;
    assert_eq!(client.result().await, "fine");
}
