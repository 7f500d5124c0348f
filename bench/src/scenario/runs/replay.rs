use std::collections::HashSet;
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};

use super::client::{Client, Kind};
use super::strategy::{EVENTS_PER_ROUND, EVENTS_PER_RUN, StrategyFile};
use crate::load::{Histogram, WebSocket};
use crate::process::{Ceiling, Hub, Target};
use crate::report::{Figure, Goal};
use crate::scenario::Settings;
use crate::scenario::pairs::in_turns;

/// The size of a run's replay buffer.
const EVENTS: u64 = 10_000;
const ROUNDS: usize = (EVENTS as usize - EVENTS_PER_RUN) / EVENTS_PER_ROUND;
/// Steering messages before the start, which bring the run to exactly `EVENTS` events.
const STEER_MESSAGES: usize = EVENTS as usize - EVENTS_PER_RUN - ROUNDS * EVENTS_PER_ROUND;
const INPUT: &str = "The quarter went well, and the next one begins with two open positions.";
/// Replays per round; the figure of a round is their median.
const REPLAYS: usize = 10;
/// Positions at which a client lost its connection and resumes.
const CUTS: u64 = 50;

/// The events of one replay.
struct Replayed {
    took: Duration,
    seqs: Vec<u64>,
    bytes: usize,
}

/// A full replay of a run, from memory and from the store. The ceiling sends as many frames of the same length.
pub async fn run(settings: &Settings) -> Result<Vec<Figure>> {
    let hub = Hub::start(&settings.hub).await?;
    let ceiling = Ceiling::start(&settings.hub.root).await?;
    let run = finished_run(settings, &hub).await?;
    let whole = replay(hub.target, &run, 0).await?;
    let path = format!("/ws/{EVENTS}/{}", whole.bytes / whole.seqs.len().max(1));
    let mut faults = Vec::new();
    let mut figures = Vec::new();
    faults.push(faults_at_cuts(hub.target, &run).await? as f64);
    figures.push(timed(settings, ("memory", hub.target, &run), (ceiling.target, &path)).await?);
    let hub = hub.restart().await?;
    faults.push(faults_at_cuts(hub.target, &run).await? as f64);
    figures.push(timed(settings, ("the store", hub.target, &run), (ceiling.target, &path)).await?);
    let sum = vec![faults.iter().sum()];
    let name = format!("events missing or twice, {} cuts", 2 * (CUTS + 1));
    figures.push(Figure::single(name, "", sum).goal(Goal::ValueAtMost(0.0)));
    Ok(figures)
}

/// A finished run with exactly `EVENTS` events.
async fn finished_run(settings: &Settings, hub: &Hub) -> Result<String> {
    let strategy = StrategyFile::echoes(&settings.hub.root, ROUNDS)?;
    let mut client = Client::open(hub.target).await?;
    let run = client.prepare(&strategy.path).await?;
    for _ in 0..STEER_MESSAGES {
        client.steer(&run, "Be brief.").await?;
    }
    client.start(&run, INPUT).await?;
    loop {
        let frame = client.next_frame().await?;
        if frame.kind == Kind::StrategyCompleted {
            ensure!(
                frame.seq == Some(EVENTS),
                "the run sent {:?} events instead of {EVENTS}",
                frame.seq
            );
            return Ok(run);
        }
    }
}

async fn timed(
    settings: &Settings,
    (from, hub, run): (&str, Target, &str),
    (ceiling, path): (Target, &str),
) -> Result<Figure> {
    let (hub_runs, ceiling_runs) = in_turns(
        settings.rounds,
        async || replays(hub, run).await,
        async || bursts(ceiling, path).await,
    )
    .await?;
    let name = format!("replay of {EVENTS} from {from}: p50");
    Ok(Figure::single(name, "ms", hub_runs).against("bare frames", ceiling_runs))
}

async fn replays(target: Target, run: &str) -> Result<f64> {
    let took = Histogram::default();
    for _ in 0..REPLAYS {
        took.record(replay(target, run, 0).await?.took);
    }
    Ok(took.quantile(0.5).as_secs_f64() * 1e3)
}

async fn bursts(target: Target, path: &str) -> Result<f64> {
    let took = Histogram::default();
    for _ in 0..REPLAYS {
        let mut socket = WebSocket::open(target.address, path).await?;
        let started = Instant::now();
        socket.send("{}").await?;
        for _ in 0..EVENTS {
            socket.next().await?;
        }
        took.record(started.elapsed());
    }
    Ok(took.quantile(0.5).as_secs_f64() * 1e3)
}

/// A new client that has every event up to `after`. The frames before the reply to its ping are the replay.
async fn replay(target: Target, run: &str, after: u64) -> Result<Replayed> {
    let mut client = Client::open(target).await?;
    let started = Instant::now();
    client.subscribe(run, Some(after)).await?;
    client.ping().await?;
    let mut replayed = Replayed {
        took: Duration::ZERO,
        seqs: Vec::new(),
        bytes: 0,
    };
    loop {
        let frame = client.next_frame().await?;
        if frame.kind == Kind::Pong {
            return Ok(replayed);
        }
        replayed.took = started.elapsed();
        replayed.bytes += frame.bytes;
        replayed.seqs.extend(frame.seq);
    }
}

async fn faults_at_cuts(target: Target, run: &str) -> Result<u64> {
    let mut sum = 0;
    for cut in 0..=CUTS {
        let after = cut * EVENTS / CUTS;
        sum += faults(&replay(target, run, after).await?.seqs, after, EVENTS);
    }
    Ok(sum)
}

/// Counts the events between `after` and `last` that are missing, duplicated or out of order.
fn faults(seqs: &[u64], after: u64, last: u64) -> u64 {
    let due = |seq: &&u64| **seq > after && **seq <= last;
    let came: HashSet<&u64> = seqs.iter().filter(due).collect();
    let missing = last - after - came.len() as u64;
    let unexpected = seqs.iter().filter(|seq| !due(seq)).count();
    let misplaced = seqs.windows(2).filter(|pair| pair[0] >= pair[1]).count();
    missing + (unexpected + misplaced) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gaps_duplicates_and_disorder_are_faults() {
        assert_eq!(faults(&[3, 4, 5], 2, 5), 0);
        assert_eq!(faults(&[], 5, 5), 0);
        assert_eq!(faults(&[3, 5], 2, 5), 1, "one is missing");
        assert_eq!(faults(&[3, 3, 4, 5], 2, 5), 1, "one came twice");
        assert_eq!(faults(&[3, 5, 4], 2, 5), 1, "one came late");
        assert_eq!(faults(&[2, 3, 4, 5, 6], 2, 5), 2, "two were not due");
    }
}
