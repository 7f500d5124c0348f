use std::time::Duration;

use anyhow::Result;

use super::pairs::in_turns;
use super::{Settings, requests};
use crate::load::{Sample, Slot, Slots, Window, Work, drain, measure};
use crate::process::{Agent, Hub, Usage, rss_bytes, wait_until_idle};
use crate::report::{Figure, Goal};

const FILL_CONNECTIONS: usize = 256;
const CHUNK: usize = 20_000;
/// Both stores have the same number of open messages: the size of the inbox does not depend on the size of the store.
const OPEN_MESSAGES: usize = 2_000;
const UNTIL_DONE: Window = Window {
    warm_up: Duration::ZERO,
    length: Duration::from_secs(120),
};
const IDLE_WINDOW: Duration = Duration::from_secs(5);
const MEBIBYTE: f64 = 1024.0 * 1024.0;

/// A hub with a filled store.
struct FilledStore {
    hub: Hub,
    agent: Agent,
    ids: Vec<Slot>,
}

/// Medians of one pass over the four operations, in milliseconds.
type Medians = [f64; 4];
const OPERATIONS: [&str; 4] = ["submit", "answer", "pull", "list inbox"];

/// Measures a small and a large store in turns.
pub async fn run(settings: &Settings) -> Result<Vec<Figure>> {
    let fresh_hub = Hub::start(&settings.hub).await?;
    let fresh = rss_bytes(fresh_hub.target.pid)? as f64;
    drop(fresh_hub);
    let small = fill(settings, settings.small).await?;
    let large = fill(settings, settings.large).await?;
    let mut figures =
        vec![Figure::single("memory of a fresh hub", "MiB", vec![fresh / MEBIBYTE]).goal(Goal::ValueAtMost(20.0))];
    for connections in [1, 32] {
        // A warm-up pass: the first one would find cold caches and a clocked-down processor.
        operations(&large, connections).await?;
        operations(&small, connections).await?;
        let (large_runs, small_runs) = in_turns(
            settings.rounds,
            async || operations(&large, connections).await,
            async || operations(&small, connections).await,
        )
        .await?;
        figures.extend(slowdowns(settings, connections, &large_runs, &small_runs));
    }
    drop(small);
    figures.extend(start_up(settings, large.hub).await?);
    Ok(figures)
}

async fn fill(settings: &Settings, messages: usize) -> Result<FilledStore> {
    let hub = Hub::start(&settings.hub).await?;
    let agent = hub.add_agent("bench").await?;
    let ids = store(&hub, &agent, messages, OPEN_MESSAGES).await?;
    Ok(FilledStore { hub, agent, ids })
}

/// Stores `messages`, of which the last `open` stay open.
pub async fn store(hub: &Hub, agent: &Agent, messages: usize, open: usize) -> Result<Vec<Slot>> {
    let mut ids = Vec::with_capacity(messages);
    while ids.len() < messages {
        let chunk = CHUNK.min(messages - ids.len());
        let fill = requests::submit(agent, Slots::keys(chunk as u64)).capturing();
        let mut new = drain(hub.target, FILL_CONNECTIONS, fill).await?;
        ids.extend_from_slice(&new);
        if ids.len() == messages {
            new.truncate(chunk.saturating_sub(open));
        }
        drain(hub.target, FILL_CONNECTIONS, requests::resolve(hub, Slots::ids(new))).await?;
    }
    Ok(ids)
}

/// Few writes, so that the small store stays small; every submitted ask is answered, so that the inbox keeps its size.
async fn operations(filled: &FilledStore, connections: usize) -> Result<Medians> {
    let FilledStore { hub, agent, ids } = filled;
    let (writes, reads) = if connections == 1 { (300, 1000) } else { (1000, 4000) };
    let run = async |work: Work| measure(hub.target, connections, work, UNTIL_DONE).await;
    let submit = run(requests::submit(agent, Slots::keys(writes)).capturing()).await?;
    let answer = run(requests::resolve(hub, Slots::ids(submit.ids.clone()))).await?;
    let pull = run(requests::pull(agent, scattered(ids, reads))).await?;
    let list = run(requests::list_inbox(hub, Slots::keys(reads as u64))).await?;
    let median = |sample: &Sample| sample.millis(0.5);
    Ok([median(&submit), median(&answer), median(&pull), median(&list)])
}

fn slowdowns(settings: &Settings, connections: usize, large: &[Medians], small: &[Medians]) -> Vec<Figure> {
    let figure = |operation: usize| {
        let runs = |side: &[Medians]| side.iter().map(|run| run[operation]).collect();
        let name = format!(
            "{} at {connections}, {} stored: p50",
            OPERATIONS[operation], settings.large
        );
        Figure::single(name, "ms", runs(large))
            .against("small store", runs(small))
            .goal(Goal::RatioAtMost(1.3))
    };
    (0..OPERATIONS.len()).map(figure).collect()
}

async fn start_up(settings: &Settings, hub: Hub) -> Result<Vec<Figure>> {
    let mut stopped = Vec::new();
    let mut killed = Vec::new();
    let mut hub = hub;
    for _ in 0..settings.rounds {
        hub = hub.restart().await?;
        stopped.push(hub.ready_after.as_secs_f64() * 1e3);
        hub = hub.crash_and_restart().await?;
        killed.push(hub.ready_after.as_secs_f64() * 1e3);
    }
    wait_until_idle(hub.target.pid).await?;
    let before = Usage::of(hub.target.pid)?.cpu;
    tokio::time::sleep(IDLE_WINDOW).await;
    let idle = Usage::of(hub.target.pid)?.cpu.saturating_sub(before).as_secs_f64() * 1e3;
    let name = |after: &str| format!("start with {} stored, after a {after}", settings.large);
    Ok(vec![
        Figure::single(name("stop"), "ms", stopped).goal(Goal::ValueAtMost(300.0)),
        Figure::single(name("kill"), "ms", killed).goal(Goal::ValueAtMost(300.0)),
        Figure::single(
            format!("cpu of {} idle seconds", IDLE_WINDOW.as_secs()),
            "ms",
            vec![idle],
        )
        .goal(Goal::ValueAtMost(10.0)),
    ])
}

/// Pseudo-random ids from the whole store, the same ones in every run.
pub fn scattered(ids: &[Slot], count: usize) -> Vec<Slot> {
    let mut state = 0x9E37_79B9_7F4A_7C15_u64;
    let mut pick = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        ids[(state % ids.len() as u64) as usize]
    };
    (0..count).map(|_| pick()).collect()
}
