//! Following runs owned by other hubs: no event is missed or repeated, and the cost stays low.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::Cluster;
use crate::harness::*;
use crate::runs::stage::*;

/// A strategy that asks the same person `rounds` times.
fn chat(rounds: u32) -> Value {
    cycle(
        json!({"user": person(), "say": echo()}),
        &["user", "say"],
        json!({"cycles": rounds}),
    )
}

/// A run that ended at the second hub and was continued at the first, where its next question is open.
async fn continue_at_first_hub(cluster: &Cluster, there: &mut Client) -> (Client, String) {
    let run = there.start_strategy(&cluster.hubs[1], &talk(), "").await;
    there.next_question().await;
    there.answer(&run, "user", "one").await;
    assert_eq!(there.result().await, "one");
    let mut here = Client::connect(&cluster.hubs[0]).await;
    here.continue_run(&run, "").await;
    here.next_question().await;
    (here, run)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_continued_at_another_hub_is_followed_where_it_ended() {
    let cluster = Cluster::start(2).await;
    let mut there = Client::connect(&cluster.hubs[1]).await;
    let (mut here, run) = continue_at_first_hub(&cluster, &mut there).await;
    let received = there.until("request_input").await;
    assert_eq!(received.of_kind("strategy_started").len(), 1, "{received:#?}");
    there.answer(&run, "user", "two").await;
    assert_eq!(
        (there.result().await, here.result().await),
        ("two".to_owned(), "two".to_owned())
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_continued_at_another_hub_is_running_where_it_ended() {
    let cluster = Cluster::start(2).await;
    let mut first = Client::connect(&cluster.hubs[1]).await;
    let (mut here, run) = continue_at_first_hub(&cluster, &mut first).await;
    drop(first);
    let mut there = Client::connect(&cluster.hubs[1]).await;
    assert_eq!(there.live_run(&run).await["status"], "running");
    let shown = cluster.hubs[1].owner.get(&format!("/v1/runs/{run}")).await.expect(200);
    assert_eq!(
        (&shown["status"], &shown["waiting"][0]["agent_name"]),
        (&json!("running"), &json!("user")),
        "{shown}"
    );
    there
        .send(json!({"type": "steer_run", "runId": run, "text": "be brief"}))
        .await;
    assert_eq!(here.expect("steer_queued").await["text"], "be brief");
    there
        .call(json!({"type": "prepare_run", "runId": run}), "run_prepared")
        .await;
    there.expect("request_input").await;
    let stopped = cluster.hubs[1]
        .owner
        .post(&format!("/v1/runs/{run}/stop"), &json!({}))
        .await;
    assert_eq!(stopped.status, 204);
    assert_eq!(here.failure().await.0, "CANCELLED");
    assert_eq!(there.failure().await.0, "CANCELLED");
}

#[tokio::test(flavor = "multi_thread")]
async fn of_two_continuations_at_two_hubs_the_second_client_follows() {
    let cluster = Cluster::start(2).await;
    let mut here = Client::connect(&cluster.hubs[0]).await;
    let run = here.start_strategy(&cluster.hubs[0], &talk(), "").await;
    here.next_question().await;
    here.answer(&run, "user", "one").await;
    here.result().await;
    let mut there = Client::connect(&cluster.hubs[1]).await;
    let prepare = json!({"type": "prepare_run", "runId": run});
    here.call(prepare.clone(), "run_prepared").await;
    there.call(prepare, "run_prepared").await;
    here.send(json!({"type": "continue_run", "runId": run, "input": ""}))
        .await;
    here.next_question().await;
    there
        .send(json!({"type": "continue_run", "runId": run, "input": ""}))
        .await;
    let mut has_asked = false;
    let mut refused = Value::Null;
    while !has_asked || refused.is_null() {
        let frame = there.next().await;
        has_asked |= frame["type"] == "request_input";
        if frame["type"] == "error" {
            refused = frame;
        }
    }
    assert_eq!(refused["code"], "CONTINUE_FAILED", "{refused}");
    there.answer(&run, "user", "two").await;
    assert_eq!(
        (there.result().await, here.result().await),
        ("two".to_owned(), "two".to_owned())
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_database_outage_during_subscribe_leaves_no_dead_follower() {
    let cluster = Cluster::start(2).await;
    let mut here = Client::connect(&cluster.hubs[0]).await;
    let run = here.start_strategy(&cluster.hubs[0], &chat(2), "").await;
    here.next_question().await;
    for step in 1..=12 {
        cluster.wires[1].set_state(WireState::Slow(Duration::from_millis(5)));
        let mut there = Client::connect_when_back(&cluster.hubs[1]).await;
        there.subscribe(&run).await;
        // The subscribe gets a bit further each round before the cut.
        let _ = tokio::time::timeout(Duration::from_millis(step * 15), there.next()).await;
        cluster.wires[1].set_state(WireState::Cut);
        drop(there);
        cluster.wires[1].set_state(WireState::Open);
    }
    let mut there = Client::connect_when_back(&cluster.hubs[1]).await;
    there.subscribe(&run).await;
    there.expect("request_input").await;
    here.answer(&run, "user", "one").await;
    there.until("step_completed").await;
    assert_eq!(there.next_question().await, here.next_question().await);
}

#[tokio::test(flavor = "multi_thread")]
async fn followers_of_a_busy_run_get_every_event_once_and_in_order() {
    let cluster = Cluster::start(2).await;
    let mut here = Client::connect(&cluster.hubs[0]).await;
    let agents = json!({"user": person(), "a": echo(), "b": template("{{input}}."), "last": person()});
    let busy = json!({"name": "Busy", "type": "cycle", "cycles": 150, "steps": [{"agent": "a"}, {"agent": "b"}]});
    let steps = json!([{"agent": "user"}, busy, {"agent": "last"}]);
    let busy = strategy(agents, json!({"name": "Main", "type": "sequential", "steps": steps}));
    let run = here.start_strategy(&cluster.hubs[0], &busy, "").await;
    let asked = here.next_question().await;
    let mut followers = vec![];
    for _ in 0..6 {
        followers.push(Client::connect(&cluster.hubs[1]).await);
    }
    here.answer(&run, "user", "go").await;
    // The followers subscribe together while the run is busy.
    for follower in &mut followers {
        follower.subscribe_after(&run, seq(&asked)).await;
    }
    let seqs = seqs_until(&mut here, "last", seq(&asked)).await;
    for follower in &mut followers {
        assert_eq!(seqs_until(follower, "last", seq(&asked)).await, seqs);
    }
    followers[0].answer(&run, "last", "end").await;
    assert_eq!(followers[5].result().await, "end");
}

/// The sequence seqs after `after` up to a question of `agent`. Streamed text is left out: only the owner sends it.
async fn seqs_until(client: &mut Client, agent: &str, after: u64) -> Vec<u64> {
    let mut seqs = vec![];
    loop {
        let frame = client.next().await;
        if seq(&frame) > after && frame["event"]["type"] != "text" {
            seqs.push(seq(&frame));
        }
        if frame["type"] == "request_input" && frame["agentName"] == agent {
            return seqs;
        }
    }
}

/// Row versions that never change: the hubs compare them to find changes whose notification was lost.
const FREEZE_VERSIONS: &str = "CREATE FUNCTION keep() RETURNS trigger LANGUAGE plpgsql AS \
     $$ BEGIN NEW.write_id = OLD.write_id; RETURN NEW; END $$; \
     CREATE TRIGGER keep BEFORE UPDATE ON run FOR EACH ROW EXECUTE FUNCTION keep()";

#[tokio::test(flavor = "multi_thread")]
async fn events_of_another_hub_arrive_by_notification_alone() {
    let cluster = Cluster::start(2).await;
    cluster.database.execute(FREEZE_VERSIONS).await;
    let mut here = Client::connect(&cluster.hubs[0]).await;
    let run = here.start_strategy(&cluster.hubs[0], &chat(12), "").await;
    here.next_question().await;
    let mut there = Client::connect(&cluster.hubs[1]).await;
    there.subscribe(&run).await;
    there.next_question().await;
    for _ in 0..11 {
        here.answer(&run, "user", "on").await;
        let asked = here.next_question().await;
        assert_eq!(there.next_question().await, asked);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn many_followed_idle_runs_cost_few_transactions() {
    const RUNS: usize = 100;
    let cluster = Cluster::with_setup(2, || Setup::default().config("[limits]\nrequests_per_minute = 0\n")).await;
    let bot = cluster.agent("bot").await;
    let witness = bot.accepted(&ask("bot")).await;
    let mut here = vec![Client::connect(&cluster.hubs[0]).await];
    let asks = waiting_runs(&mut here, &strategy_file(&cluster.hubs[0], &talk()), RUNS).await;
    let mut there = Client::connect(&cluster.hubs[1]).await;
    for ask in &asks {
        there.subscribe(ask["runId"].as_str().expect("a run")).await;
        assert_eq!(there.expect("request_input").await["runId"], ask["runId"]);
    }
    let transactions = || cluster.wires.iter().map(Wire::transactions).sum::<usize>();
    let quiet = async || bot.get(&format!("/v1/messages/{witness}?wait=4")).await.expect(200);
    quiet().await;
    let before = transactions();
    let began = Instant::now();
    quiet().await;
    let used = transactions() - before;
    // A rate, because a busy machine is late to end the wait. A look at each run would need a hundred for each second.
    let per_second = used as f64 / began.elapsed().as_secs_f64();
    assert!(
        per_second < 30.0,
        "{per_second} transactions a second while {RUNS} runs wait"
    );
    here[0].answer("run-0-7", "user", "still there").await;
    assert_eq!(there.result().await, "still there");
}

#[tokio::test(flavor = "multi_thread")]
async fn followed_runs_of_other_hubs_are_limited() {
    let cluster = Cluster::with_setup(3, || Setup::default().config("[runs]\nmax_live = 1\n")).await;
    let mut clients = vec![];
    for hub in &cluster.hubs[..2] {
        let mut client = Client::connect(hub).await;
        let run = client.start_strategy(hub, &talk(), "").await;
        client.next_question().await;
        clients.push((client, run));
    }
    let [first, second] = [&clients[0].1, &clients[1].1];
    let mut there = Client::connect(&cluster.hubs[2]).await;
    there.subscribe(first).await;
    there.next_question().await;
    let refusal = there
        .refused(json!({"type": "subscribe", "runId": second}), "SUBSCRIBE_ERROR")
        .await;
    assert!(refusal.contains("runs of other hubs are followed"), "{refusal}");
    there
        .refused(json!({"type": "prepare_run", "runId": second}), "PREPARE_FAILED")
        .await;
    there.unsubscribe(first).await;
    eventually("a slot is free again", async || {
        there.subscribe(second).await;
        (there.next().await["type"] == "request_input").then_some(())
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_lagging_hub_accepts_an_answer_to_the_next_question() {
    let cluster = Cluster::start(2).await;
    let mut here = Client::connect(&cluster.hubs[0]).await;
    let run = here.start_strategy(&cluster.hubs[0], &chat(2), "").await;
    here.next_question().await;
    let mut there = Client::connect(&cluster.hubs[1]).await;
    there.subscribe(&run).await;
    there.next_question().await;
    // The second hub now sees changes late.
    cluster.wires[1].set_state(WireState::Slow(Duration::from_millis(60)));
    here.answer(&run, "user", "one").await;
    here.next_question().await;
    there.answer(&run, "user", "two").await;
    assert_eq!(here.result().await, "two");
}
