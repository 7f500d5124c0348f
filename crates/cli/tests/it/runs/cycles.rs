//! Cycles: flows that repeat, and the signals that end them.

use serde_json::{Value, json};

use super::stage::*;
use crate::harness::*;

fn approval(more: Value) -> Value {
    let agents = json!({"draft": template("{{input}}+"), "boss": person()});
    let mut flow = json!({"observer": "boss", "cycles": 5});
    for (key, value) in more.as_object().expect("an object") {
        flow[key] = value.clone();
    }
    cycle(agents, &["draft"], flow)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_person_as_observer_ends_a_cycle_with_a_signal() {
    let hub = Hub::start().await;
    let mut client = Client::connect(&hub).await;
    let run = client.start_strategy(&hub, &approval(json!({})), "x").await;
    let first = client.until("request_input").await;
    assert_eq!(
        first.last().unwrap()["prompt"],
        "x+",
        "the observer sees the cycle's output"
    );
    client.answer(&run, "boss", "more").await;
    let second = client.until("request_input").await;
    assert_eq!(
        second.last().unwrap()["prompt"],
        "more+",
        "the observer's answer is the next input"
    );
    assert!(
        second
            .of_kind("step_started")
            .iter()
            .all(|event| event["stepName"] == "draft"),
        "an observer is not a step"
    );
    client.answer(&run, "boss", "done").await;
    assert_eq!(
        client.result().await,
        "more+",
        "the result is the cycle's, not the observer's"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cycle_runs_once_by_default_and_feeds_its_output_back() {
    let hub = Hub::start().await;
    let mut client = Client::connect(&hub).await;
    for (more, result, rounds) in [
        (json!({}), "x+", 1),
        (json!({"cycles": 1}), "x+", 1),
        (json!({"cycles": 3}), "x+++", 3),
    ] {
        client
            .start_strategy(&hub, &cycle(json!({"a": template("{{input}}+")}), &["a"], more), "x")
            .await;
        let events = client.until("strategy_completed").await;
        assert_eq!(events.last().unwrap()["result"], result);
        assert_eq!(
            events.of_kind("step_started").len(),
            rounds,
            "steps are reported in every round"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_infinite_cycle_runs_until_it_is_stopped() {
    let hub = Hub::start().await;
    let mut client = Client::connect(&hub).await;
    let endless = cycle(
        json!({"a": echo(), "user": person()}),
        &["a", "user"],
        json!({"cycles": "Infinity"}),
    );
    let run = client.start_strategy(&hub, &endless, "x").await;
    for _ in 0..50 {
        client.next_question().await;
        client.answer(&run, "user", "again").await;
    }
    client.stop(&run).await;
    assert_eq!(client.failure().await.0, "CANCELLED");
    client.expect_silence().await;
}

/// Such a cycle would spin as long as the hub runs, and again after every restart.
#[tokio::test(flavor = "multi_thread")]
async fn a_cycle_without_a_waiting_agent_must_be_finite() {
    let hub = Hub::start().await;
    let mut client = Client::connect(&hub).await;
    for cycles in [json!("Infinity"), json!(1_000_000_000)] {
        let spinning = cycle(json!({"a": echo()}), &["a"], json!({"cycles": cycles, "observer": "a"}));
        let refusal = client.prepare_refused(&strategy_file(&hub, &spinning)).await;
        assert!(
            refusal.contains("\n  - flow: would call agents more than 100000 times in a row"),
            "{refusal}"
        );
    }
}

/// Long cycles of cheap agents must not starve the hub's other work.
#[tokio::test(flavor = "multi_thread")]
async fn long_cycles_do_not_starve_other_runs() {
    let hub = Hub::start().await;
    let mut client = Client::connect(&hub).await;
    // A person waits at the end, so that the runs are still live when the test stops them.
    let mut rounds = flow("Rounds", "cycle", &["a"]);
    rounds["cycles"] = json!(100_000);
    let main = json!({"name": "Main", "type": "sequential", "steps": [rounds, {"agent": "user"}]});
    let path = strategy_file(&hub, &strategy(json!({"a": echo(), "user": person()}), main));
    let mut long = vec![];
    for _ in 0..4 {
        let run = client.prepare(&path).await;
        client.unsubscribe(&run).await;
        long.push(run);
    }
    let mut starter = Client::connect(&hub).await;
    for run in &long {
        starter.send(json!({"type": "start_run", "runId": run})).await;
        starter.unsubscribe(run).await;
    }
    starter.frames_so_far().await;
    let mut other = Client::connect(&hub).await;
    for _ in 0..10 {
        let run = other.start_strategy(&hub, &talk(), "").await;
        other.next_question().await;
        other.answer(&run, "user", "hello").await;
        assert_eq!(other.result().await, "hello");
    }
    for run in &long {
        starter.stop(run).await;
        let stopped = eventually("the run stops", async || {
            let live = other.live_run(run).await;
            (live["status"] == "cancelled").then_some(())
        });
        stopped.await;
    }
}

/// Whether this answer of the observer ends the cycle.
async fn ends_cycle(hub: &Hub, more: Value, answer: &str) -> bool {
    let mut client = Client::connect(hub).await;
    let run = client.start_strategy(hub, &approval(more), "x").await;
    client.next_question().await;
    client.answer(&run, "boss", answer).await;
    loop {
        let frame = client.next().await;
        match frame["type"].as_str() {
            Some("strategy_completed") => return true,
            Some("request_input") => {
                client.stop(&run).await;
                return false;
            }
            Some("strategy_error") => panic!("{frame}"),
            _ => {}
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn every_signal_match_mode_works() {
    let hub = Hub::start().await;
    for (matching, answer, expected) in [
        ("substring", "well DONE indeed", true),
        ("substring", "undone", true),
        ("substring", "go on", false),
        ("first-line", "Done", true),
        ("first-line", "  done with it  \nmore", true),
        ("first-line", "done.", false),
        ("first-line", "not yet\ndone", false),
        ("any-line", "not yet\n  DONE now\nmore", true),
        ("any-line", "not yet done\nnearly", false),
        ("exact", "done", true),
        ("exact", " Done\n", true),
        ("exact", "done now", false),
    ] {
        let more = json!({"breakCycleSignalMatch": matching, "breakCycleSignals": ["done"]});
        assert_eq!(ends_cycle(&hub, more, answer).await, expected, "{matching}: {answer:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cycle_has_three_default_signals() {
    let hub = Hub::start().await;
    for answer in ["end cycle", "Stop", "done"] {
        assert!(ends_cycle(&hub, json!({}), answer).await, "{answer}");
    }
    assert!(!ends_cycle(&hub, json!({}), "approve").await);
    let own = json!({"breakCycleSignals": ["approve", "ship it"]});
    assert!(ends_cycle(&hub, own.clone(), "Ship it!").await);
    assert!(!ends_cycle(&hub, own, "done").await, "own signals replace the defaults");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_observer_may_be_any_agent() {
    let hub = Hub::start().await;
    let mut client = Client::connect(&hub).await;
    let agents = json!({"a": template("{{input}}+"), "watch": template("seen {{input}}")});
    let more = json!({"observer": "watch", "cycles": 4, "breakCycleSignals": ["seen seen x++"]});
    client.start_strategy(&hub, &cycle(agents, &["a"], more), "x").await;
    let events = client.until("strategy_completed").await;
    assert_eq!(events.last().unwrap()["result"], "seen x++");
    assert_eq!(events.of_kind("step_started").len(), 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn after_the_last_round_the_run_ends_without_a_signal() {
    let hub = Hub::start().await;
    let mut client = Client::connect(&hub).await;
    let run = client.start_strategy(&hub, &approval(json!({"cycles": 2})), "x").await;
    client.next_question().await;
    client.answer(&run, "boss", "again").await;
    client.next_question().await;
    client.answer(&run, "boss", "and again").await;
    let events = client.until("strategy_completed").await;
    assert!(
        events.of_kind("step_started").is_empty(),
        "there is no third round: {events:#?}"
    );
}
