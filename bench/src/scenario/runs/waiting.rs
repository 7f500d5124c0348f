use std::collections::HashSet;
use std::path::Path;

use anyhow::{Result, ensure};

use super::client::{Client, Kind, answer};
use super::strategy::StrategyFile;
use crate::process::{Hub, Usage, rss_bytes, wait_until_idle};
use crate::report::{Figure, Goal};
use crate::scenario::Settings;
use crate::scenario::pairs::each;

/// Few clients, so that the measured memory belongs to runs and not to connections.
const CLIENTS: usize = 4;
/// Runs that begin and end before the measurement, because the first runs allocate memory that all later ones share.
const WARM_UP_RUNS: usize = 100;

/// Memory, processor time and start-up time with waiting runs.
struct WaitingRunCost {
    bytes_begun: f64,
    bytes_restored: f64,
    idle_ms: f64,
    start_ms: f64,
}

/// Many runs that wait at the same time: started in one process, restored by the next, and all answered there.
pub async fn run(settings: &Settings) -> Result<Vec<Figure>> {
    let strategy = StrategyFile::talk(&settings.hub.root, 1)?;
    let mut rounds = Vec::new();
    for _ in 0..settings.rounds.div_ceil(2) {
        rounds.push(round(settings, &strategy.path).await?);
    }
    let figure = |what: &str, unit: &'static str, quantity: fn(&WaitingRunCost) -> f64| {
        Figure::single(
            format!("{} waiting runs: {what}", settings.waiting_runs),
            unit,
            each(&rounds, quantity),
        )
    };
    let idle = format!("cpu of {} seconds", settings.idle.as_secs());
    Ok(vec![
        figure("memory", "KiB", |run| run.bytes_begun / 1024.0),
        figure("memory, restarted", "KiB", |run| run.bytes_restored / 1024.0),
        figure(&idle, "ms", |run| run.idle_ms).goal(Goal::ValueAtMost(0.0)),
        figure("start", "ms", |run| run.start_ms),
    ])
}

async fn round(settings: &Settings, strategy: &Path) -> Result<WaitingRunCost> {
    let hub = Hub::start(&settings.hub).await?;
    let fresh = idle_rss(&hub).await?;
    let mut clients = Client::several(hub.target, CLIENTS).await?;
    let first = begin(&mut clients, strategy, WARM_UP_RUNS).await?;
    answer_all(&mut clients, &first).await?;
    let before = idle_rss(&hub).await?;
    let runs = begin(&mut clients, strategy, settings.waiting_runs).await?;
    let begun = idle_rss(&hub).await?;
    let idle_ms = idle(settings, &hub).await?;
    drop(clients);
    let hub = hub.restart().await?;
    let restored = idle_rss(&hub).await?;
    let mut clients = Client::several(hub.target, CLIENTS).await?;
    subscribe_all(&mut clients, &runs).await?;
    answer_all(&mut clients, &runs).await?;
    let bytes_each = |after: u64, before: u64| after.saturating_sub(before) as f64 / settings.waiting_runs as f64;
    Ok(WaitingRunCost {
        bytes_begun: bytes_each(begun, before),
        bytes_restored: bytes_each(restored, fresh),
        idle_ms,
        start_ms: hub.ready_after.as_secs_f64() * 1e3,
    })
}

async fn idle_rss(hub: &Hub) -> Result<u64> {
    wait_until_idle(hub.target.pid).await?;
    rss_bytes(hub.target.pid)
}

async fn idle(settings: &Settings, hub: &Hub) -> Result<f64> {
    let before = Usage::of(hub.target.pid)?.cpu;
    tokio::time::sleep(settings.idle).await;
    Ok(Usage::of(hub.target.pid)?.cpu.saturating_sub(before).as_secs_f64() * 1e3)
}

/// Starts the runs and returns them by client, once every run has asked its question.
async fn begin(clients: &mut [Client], strategy: &Path, count: usize) -> Result<Vec<Vec<String>>> {
    let mut begun = Vec::new();
    let share = count.div_ceil(clients.len());
    for (number, client) in clients.iter_mut().enumerate() {
        let mut runs = Vec::new();
        for _ in 0..share.min(count.saturating_sub(number * share)) {
            runs.push(client.begin(strategy, "").await?);
        }
        until_all(client, Kind::RequestInput, &runs).await?;
        begun.push(runs);
    }
    Ok(begun)
}

/// Subscribes to every run; a subscriber to a waiting run is sent its pending question.
async fn subscribe_all(clients: &mut [Client], runs: &[Vec<String>]) -> Result<()> {
    for (client, runs) in clients.iter_mut().zip(runs) {
        for run in runs {
            client.subscribe(run, None).await?;
        }
        until_all(client, Kind::RequestInput, runs).await?;
    }
    Ok(())
}

async fn answer_all(clients: &mut [Client], runs: &[Vec<String>]) -> Result<()> {
    for (client, runs) in clients.iter_mut().zip(runs) {
        for run in runs {
            client.send(&answer(run)).await?;
        }
        until_all(client, Kind::StrategyCompleted, runs).await?;
    }
    Ok(())
}

/// Waits until every one of these runs has sent the event, each exactly once.
async fn until_all(client: &mut Client, kind: Kind, runs: &[String]) -> Result<()> {
    let mut left: HashSet<&str> = runs.iter().map(String::as_str).collect();
    while !left.is_empty() {
        let frame = client.next_frame().await?;
        if frame.kind == kind {
            ensure!(
                left.remove(frame.run_id.as_str()),
                "{} sent {kind:?} twice",
                frame.run_id
            );
        }
    }
    Ok(())
}
