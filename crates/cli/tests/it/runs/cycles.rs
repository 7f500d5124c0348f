//! Flows that repeat until somebody says stop.

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

/// Check 11.
#[tokio::test(flavor = "multi_thread")]
async fn a_person_who_observes_a_cycle_ends_it_with_a_word() {
    let hub = Hub::start().await;
    let mut client = Client::connect(&hub).await;
    let run = client.begin(&hub, &approval(json!({})), "x").await;
    let first = client.until("request_input").await;
    assert_eq!(
        first.last().unwrap()["prompt"],
        "x+",
        "the observer sees what the cycle made"
    );
    client.answer(&run, "boss", "more").await;
    let second = client.until("request_input").await;
    assert_eq!(
        second.last().unwrap()["prompt"],
        "more+",
        "what the observer says goes in again"
    );
    assert!(
        second
            .of("step_started")
            .iter()
            .all(|event| event["stepName"] == "draft"),
        "an observer is no step"
    );
    client.answer(&run, "boss", "done").await;
    assert_eq!(
        client.result().await,
        "more+",
        "the result is the cycle's, not the observer's"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cycle_without_a_number_goes_round_once_and_feeds_itself() {
    let hub = Hub::start().await;
    let mut client = Client::connect(&hub).await;
    for (more, result, rounds) in [
        (json!({}), "x+", 1),
        (json!({"cycles": 1}), "x+", 1),
        (json!({"cycles": 3}), "x+++", 3),
    ] {
        client
            .begin(&hub, &cycle(json!({"a": template("{{input}}+")}), &["a"], more), "x")
            .await;
        let events = client.until("strategy_completed").await;
        assert_eq!(events.last().unwrap()["result"], result);
        assert_eq!(events.of("step_started").len(), rounds, "steps are told in every round");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cycle_without_end_goes_on_until_it_is_stopped() {
    let hub = Hub::start().await;
    let mut client = Client::connect(&hub).await;
    let endless = cycle(
        json!({"a": echo(), "user": person()}),
        &["a", "user"],
        json!({"cycles": "Infinity"}),
    );
    let run = client.begin(&hub, &endless, "x").await;
    for _ in 0..50 {
        client.asked().await;
        client.answer(&run, "user", "again").await;
    }
    client.stop(&run).await;
    assert_eq!(client.failure().await.0, "CANCELLED");
    client.silence().await;
}

/// It would turn for as long as the hub runs, and after every restart again.
#[tokio::test(flavor = "multi_thread")]
async fn a_cycle_in_which_nobody_waits_must_have_an_end() {
    let hub = Hub::start().await;
    let mut client = Client::connect(&hub).await;
    for cycles in [json!("Infinity"), json!(1_000_000_000)] {
        let spinning = cycle(json!({"a": echo()}), &["a"], json!({"cycles": cycles, "observer": "a"}));
        let said = client.prepare_refused(&strategy_file(&hub, &spinning)).await;
        assert!(
            said.starts_with("Flow \"Main\" would call agents more than 100000 times in a row"),
            "{said}"
        );
    }
}

/// Long cycles of agents that cost nothing must not keep the hub from its other work.
#[tokio::test(flavor = "multi_thread")]
async fn long_cycles_leave_room_for_everybody_else() {
    let hub = Hub::start().await;
    let mut client = Client::connect(&hub).await;
    // At the end somebody waits, so that they can be stopped however fast the hub is.
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
    starter.so_far().await;
    let mut other = Client::connect(&hub).await;
    for _ in 0..10 {
        let run = other.begin(&hub, &talk(), "").await;
        other.asked().await;
        other.answer(&run, "user", "hello").await;
        assert_eq!(other.result().await, "hello");
    }
    for run in &long {
        starter.stop(run).await;
        let stopped = eventually("it stops", async || {
            let live = other.live(run).await;
            (live["status"] == "cancelled").then_some(())
        });
        stopped.await;
    }
}

/// What the observer says, and whether it ends the cycle.
async fn ends(hub: &Hub, more: Value, answer: &str) -> bool {
    let mut client = Client::connect(hub).await;
    let run = client.begin(hub, &approval(more), "x").await;
    client.asked().await;
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
async fn every_way_of_matching_a_signal_is_kept() {
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
        assert_eq!(ends(&hub, more, answer).await, expected, "{matching}: {answer:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn without_signals_of_its_own_a_cycle_knows_three() {
    let hub = Hub::start().await;
    for answer in ["end cycle", "Stop", "done"] {
        assert!(ends(&hub, json!({}), answer).await, "{answer}");
    }
    assert!(!ends(&hub, json!({}), "approve").await);
    let own = json!({"breakCycleSignals": ["approve", "ship it"]});
    assert!(ends(&hub, own.clone(), "Ship it!").await);
    assert!(!ends(&hub, own, "done").await, "only its own");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_observer_that_is_no_person_works_as_well() {
    let hub = Hub::start().await;
    let mut client = Client::connect(&hub).await;
    let agents = json!({"a": template("{{input}}+"), "watch": template("seen {{input}}")});
    let more = json!({"observer": "watch", "cycles": 4, "breakCycleSignals": ["seen seen x++"]});
    client.begin(&hub, &cycle(agents, &["a"], more), "x").await;
    let events = client.until("strategy_completed").await;
    assert_eq!(events.last().unwrap()["result"], "seen x++");
    assert_eq!(events.of("step_started").len(), 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn after_the_last_round_the_run_ends_whatever_the_observer_says() {
    let hub = Hub::start().await;
    let mut client = Client::connect(&hub).await;
    let run = client.begin(&hub, &approval(json!({"cycles": 2})), "x").await;
    client.asked().await;
    client.answer(&run, "boss", "again").await;
    client.asked().await;
    client.answer(&run, "boss", "and again").await;
    let events = client.until("strategy_completed").await;
    assert!(
        events.of("step_started").is_empty(),
        "there is no third round: {events:#?}"
    );
}
