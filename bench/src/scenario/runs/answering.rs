use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use anyhow::Result;

use super::client::{Client, Kind, answer};
use super::strategy::StrategyFile;
use crate::load::{Meter, Sample, WebSocket, in_window};
use crate::process::{Ceiling, Hub, Target};
use crate::report::{Figure, Goal};
use crate::scenario::Settings;
use crate::scenario::pairs::{each, in_turns};

/// A long conversation. Then the next run begins, so that no run grows without bound.
const ROUNDS_PER_RUN: usize = 100;
const MAX_P50_MS: f64 = 5.0;

/// The time from a person's answer to the next step, in one run and in 32, each on its own socket. The ceiling takes
/// the same message over a WebSocket, stores it durably and replies.
pub async fn run(settings: &Settings) -> Result<Vec<Figure>> {
    let strategy = StrategyFile::talk(&settings.hub.root, ROUNDS_PER_RUN)?;
    let mut figures = Vec::new();
    for runs in [1, 32] {
        let hub = Hub::start(&settings.hub).await?;
        let ceiling = Ceiling::start(&settings.hub.root).await?;
        let (hub_runs, ceiling_runs) = in_turns(
            settings.rounds,
            async || {
                let worker = |meter| converse(hub.target, strategy.path.clone(), meter);
                Ok(in_window(&[hub.target.pid], runs, settings.window, worker).await?.0)
            },
            async || {
                let worker = |meter| exchange(ceiling.target, meter);
                Ok(in_window(&[ceiling.target.pid], runs, settings.window, worker).await?.0)
            },
        )
        .await?;
        figures.extend(compared(runs, &hub_runs, &ceiling_runs));
    }
    Ok(figures)
}

fn compared(runs: usize, hub: &[Sample], ceiling: &[Sample]) -> [Figure; 4] {
    let figure = |what: &str, unit: &'static str, quantity: fn(&Sample) -> f64| {
        let name = format!("answer to next step at {runs}: {what}");
        Figure::single(name, unit, each(hub, quantity)).against("ceiling", each(ceiling, quantity))
    };
    [
        figure("p50", "ms", |run| run.millis(0.5)).goal(Goal::ValueAtMost(MAX_P50_MS)),
        figure("p99", "ms", |run| run.millis(0.99)),
        figure("cpu each", "µs", Sample::cpu_micros_each),
        figure("flushes each", "1", Sample::flushes_each),
    ]
}

/// Drives one run after the other.
async fn converse(target: Target, strategy: PathBuf, meter: Arc<Meter>) -> Result<()> {
    let mut client = Client::open(target).await?;
    while !meter.is_over() {
        let run = client.begin(&strategy, "").await?;
        follow(&mut client, &run, &meter).await?;
    }
    Ok(())
}

/// Answers every question of a run until the run or the measurement ends.
async fn follow(client: &mut Client, run: &str, meter: &Meter) -> Result<()> {
    let answer = answer(run);
    let mut answered = None;
    loop {
        match client.next_frame().await?.kind {
            Kind::RequestInput if meter.is_over() => return client.stop(run).await,
            Kind::RequestInput => {
                answered = Some(Instant::now());
                client.send(&answer).await?;
            }
            Kind::StepStarted => {
                if let Some(answered) = answered.take() {
                    meter.record(answered.elapsed());
                }
            }
            Kind::StrategyCompleted => return Ok(()),
            Kind::RunPrepared | Kind::StrategyError | Kind::Error | Kind::Pong | Kind::Other => {}
        }
    }
}

async fn exchange(target: Target, meter: Arc<Meter>) -> Result<()> {
    let mut socket = WebSocket::open(target.address, "/ws").await?;
    let answer = answer("bench-0");
    while !meter.is_over() {
        let started = Instant::now();
        socket.send(answer.as_str()).await?;
        socket.next().await?;
        meter.record(started.elapsed());
    }
    Ok(())
}
