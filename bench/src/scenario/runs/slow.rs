use std::path::Path;
use std::time::Instant;

use anyhow::{Context, Result, ensure};

use super::client::{Client, Kind};
use super::strategy::{EVENTS_PER_ROUND, EVENTS_PER_RUN, StrategyFile};
use crate::process::Hub;
use crate::report::{Figure, Goal};
use crate::scenario::Settings;
use crate::scenario::pairs::{each, in_turns};

const INPUT_BYTES: usize = 200;
/// The size of a run's replay buffer; from then on each new event evicts the oldest one.
const REPLAY_BUFFER: usize = 10_000;

/// Events per second at the reading client.
struct Speed {
    whole: f64,
    first: f64,
    later: f64,
}

/// A run at full speed, read by one client. On the other side of the pair a second client subscribes and does not read;
/// the run sends more than the hub queues for one connection.
pub async fn run(settings: &Settings) -> Result<Vec<Figure>> {
    let rounds = settings.watched_rounds;
    let strategy = StrategyFile::echoes(&settings.hub.root, rounds)?;
    let hub = Hub::start(&settings.hub).await?;
    let speed = async |is_hindered: bool| measure(&hub, (&strategy.path, rounds), is_hindered).await;
    // A warm-up run: the first run of a hub is slower.
    speed(false).await?;
    let (hindered, free) = in_turns(settings.rounds, async || speed(true).await, async || speed(false).await).await?;
    Ok(vec![
        Figure::single(
            format!("events of a run behind the first {REPLAY_BUFFER}"),
            "1/s",
            each(&free, |run| run.later),
        )
        .against("the first ones", each(&free, |run| run.first))
        .goal(Goal::RatioAtLeast(0.5)),
        Figure::single(
            "… beside one who does not read",
            "1/s",
            each(&hindered, |run| run.whole),
        )
        .against("without it", each(&free, |run| run.whole))
        .goal(Goal::RatioAtLeast(0.9)),
    ])
}

async fn measure(hub: &Hub, (strategy, rounds): (&Path, usize), is_hindered: bool) -> Result<Speed> {
    let mut reader = Client::open(hub.target).await?;
    let run = reader.prepare(strategy).await?;
    while reader.next_frame().await?.kind != Kind::RunPrepared {}
    let _sleeper = if is_hindered {
        Some(Client::subscribe_without_reading(hub.target, &run).await?)
    } else {
        None
    };
    let started = Instant::now();
    reader.start(&run, &"x".repeat(INPUT_BYTES)).await?;
    let mut events = 1;
    let mut first = None;
    while reader.next_frame().await?.kind != Kind::StrategyCompleted {
        events += 1;
        if events == REPLAY_BUFFER {
            first = Some(started.elapsed().as_secs_f64());
        }
    }
    let whole = started.elapsed().as_secs_f64();
    ensure!(
        events == rounds * EVENTS_PER_ROUND + EVENTS_PER_RUN,
        "the reader got {events} events"
    );
    let first = first.context("the run is too short")?;
    Ok(Speed {
        whole: events as f64 / whole,
        first: REPLAY_BUFFER as f64 / first,
        later: (events - REPLAY_BUFFER) as f64 / (whole - first),
    })
}
