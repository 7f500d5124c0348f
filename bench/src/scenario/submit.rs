use anyhow::Result;

use super::pairs::{each, in_turns};
use super::{Settings, requests};
use crate::load::{Sample, Slots, measure};
use crate::process::{Ceiling, Hub};
use crate::report::{Figure, Goal};

/// Asks of one kilobyte from 1, 32 and 256 connections. Each measurement has fresh servers, so that none is slowed by
/// the data of the one before.
pub async fn run(settings: &Settings) -> Result<Vec<Figure>> {
    let mut figures = Vec::new();
    for connections in [1, 32, 256] {
        let hub = Hub::start(&settings.hub).await?;
        let ceiling = Ceiling::start(&settings.hub.root).await?;
        let agent = hub.add_agent("bench").await?;
        let (hub_runs, ceiling_runs) = in_turns(
            settings.rounds,
            async || {
                let work = requests::submit(&agent, Slots::endless());
                measure(hub.target, connections, work, settings.window).await
            },
            async || {
                let work = requests::to_ceiling("/submit", Slots::endless());
                measure(ceiling.target, connections, work, settings.window).await
            },
        )
        .await?;
        figures.extend(throughput("submit", connections, 0.7, &hub_runs, &ceiling_runs));
    }
    Ok(figures)
}

/// The figures that submit and resolve share; the goals apply from 32 connections on.
pub fn throughput(verb: &str, connections: usize, least: f64, hub: &[Sample], ceiling: &[Sample]) -> Vec<Figure> {
    let figure = |what: &str, unit: &'static str, quantity: fn(&Sample) -> f64| {
        let name = format!("{verb} at {connections}: {what}");
        Figure::single(name, unit, each(hub, quantity)).against("ceiling", each(ceiling, quantity))
    };
    let mut rate = figure("rate", "1/s", Sample::per_second);
    let mut slowest = figure("p99", "ms", |run| run.millis(0.99));
    if connections > 1 {
        rate = rate.goal(Goal::RatioAtLeast(least));
    }
    if verb == "submit" && connections == 32 {
        slowest = slowest.goal(Goal::RatioAtMost(2.0));
    }
    vec![
        rate,
        figure("p50", "ms", |run| run.millis(0.5)),
        slowest,
        figure("cpu each", "µs", Sample::cpu_micros_each),
        figure("flushes each", "1", Sample::flushes_each),
    ]
}
