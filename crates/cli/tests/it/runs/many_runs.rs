//! A thousand waiting runs.

use std::collections::HashSet;

use serde_json::{Value, json};

use super::stage::*;
use crate::harness::*;

const RUNS: usize = 1_000;
/// Memory limit per waiting run, in an unoptimized build.
const MAX_KIB_PER_RUN: u64 = 64;
/// CPU time limit of the idle hub, in hundredths of a second.
const MAX_IDLE_TICKS: u64 = 5;

/// The hub's user and system time so far, in hundredths of a second.
fn ticks(hub: &Hub) -> u64 {
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", hub.process().id())).expect("the hub runs");
    let after_name = stat.rsplit(')').next().expect("the fields after the name");
    let fields: Vec<&str> = after_name.split_whitespace().collect();
    fields[11].parse::<u64>().expect("user time") + fields[12].parse::<u64>().expect("system time")
}

fn resident_kib(hub: &Hub) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{}/status", hub.process().id())).expect("the hub runs");
    let line = status.lines().find(|line| line.starts_with("VmRSS:")).expect("a size");
    line.split_whitespace()
        .nth(1)
        .and_then(|size| size.parse().ok())
        .expect("a number")
}

/// Waits three seconds on a long-poll that times out.
async fn idle_for_three_seconds(bot: &Agent, id: &str) {
    assert_eq!(
        bot.get(&format!("/v1/messages/{id}?wait=3")).await.expect(200)["status"],
        "open"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_thousand_waiting_runs_use_little_memory_and_no_cpu_and_all_complete() {
    let hub = Setup::default()
        .config("[limits]\nrequests_per_minute = 0\n")
        .start()
        .await;
    let bot = hub.agent("bot").await;
    let witness = bot.accepted(&ask("bot")).await;
    let mut clients = vec![];
    for _ in 0..4 {
        clients.push(Client::connect(&hub).await);
    }
    let before = resident_kib(&hub);
    let asks = waiting_runs(&mut clients, &strategy_file(&hub, &talk()), RUNS).await;
    assert_eq!(
        asks.iter()
            .map(|ask| ask["inputId"].to_string())
            .collect::<HashSet<_>>()
            .len(),
        RUNS
    );
    let grown = resident_kib(&hub).saturating_sub(before);
    idle_for_three_seconds(&bot, &witness).await;
    let started = ticks(&hub);
    idle_for_three_seconds(&bot, &witness).await;
    let used = ticks(&hub) - started;
    println!("{RUNS} waiting runs: {grown} KiB, {used} ticks in three seconds");
    assert!(used <= MAX_IDLE_TICKS, "{used} ticks while {RUNS} runs wait");
    assert!(grown < MAX_KIB_PER_RUN * RUNS as u64, "{grown} KiB for {RUNS} runs");
    let health = hub.owner.get("/health").await.expect(200);
    assert_eq!(
        (&health["activeRuns"], &health["connectedClients"]),
        (&json!(RUNS), &json!(4))
    );
    answer_all(&mut clients, &asks).await;
    eventually("no run is active", async || {
        (hub.owner.get("/health").await.expect(200)["activeRuns"] == 0).then_some(())
    })
    .await;
}

/// One client answers the questions of all runs; every run completes with its own answer.
async fn answer_all(clients: &mut [Client], asks: &[Value]) {
    let Some((answerer, watchers)) = clients.split_last_mut() else {
        panic!("clients")
    };
    for ask in asks {
        let run = ask["runId"].as_str().expect("a run");
        answerer.answer(run, "user", run).await;
    }
    let mut ended = HashSet::new();
    let share = asks.len().div_ceil(watchers.len() + 1);
    for (nth, watcher) in watchers.iter_mut().chain([answerer]).enumerate() {
        while ended.len() < (share * (nth + 1)).min(asks.len()) {
            let frame = watcher.next().await;
            assert_ne!(frame["type"], "error", "{frame}");
            if frame["type"] == "strategy_completed" {
                assert_eq!(frame["result"], frame["runId"], "its own answer");
                assert!(ended.insert(frame["runId"].to_string()), "one end: {frame}");
            }
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_thousand_waiting_runs_survive_a_kill() {
    let mut hub = Hub::start().await;
    let mut clients = [Client::connect(&hub).await, Client::connect(&hub).await];
    let asks = waiting_runs(&mut clients, &strategy_file(&hub, &talk()), RUNS).await;
    hub.kill();
    hub.restart().await;
    assert_eq!(hub.owner.get("/health").await.expect(200)["activeRuns"], RUNS);
    let mut client = Client::connect(&hub).await;
    for ask in asks.iter().step_by(97) {
        let run = ask["runId"].as_str().expect("a run");
        client.subscribe(run).await;
        assert_eq!(&client.next().await, ask);
        client.answer(run, "user", run).await;
        assert_eq!(client.result().await, run);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn live_runs_are_limited_and_the_error_names_the_limit() {
    let hub = Setup::default().config("[runs]\nmax_live = 3\n").start().await;
    let mut client = Client::connect(&hub).await;
    let path = strategy_file(&hub, &talk());
    let mut runs = vec![];
    for _ in 0..3 {
        runs.push(client.prepare(&path).await);
    }
    let refusal = client.prepare_refused(&path).await;
    assert!(refusal.contains("3 runs"), "{refusal}");
    client.stop(&runs[0]).await;
    client.failure().await;
    client.prepare(&path).await;
}
