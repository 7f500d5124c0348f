use anyhow::Result;

use super::waiting::{Plan, Transport, WaitCost, on_ceiling};
use super::{Settings, requests};
use crate::load::{Pace, Sample, Slots, measure};
use crate::process::Ceiling;
use crate::report::Figure;

/// The ceiling alone, without a hub.
pub async fn run(settings: &Settings) -> Result<Vec<Figure>> {
    let mut figures = Vec::new();
    for path in ["/echo", "/submit"] {
        for connections in [1, 32, 256] {
            let ceiling = Ceiling::start(&settings.hub.root).await?;
            let mut runs = Vec::new();
            for _ in 0..settings.rounds {
                let work = requests::to_ceiling(path, Slots::endless());
                runs.push(measure(ceiling.target, connections, work, settings.window).await?);
            }
            figures.extend(throughput(&format!("{path} at {connections}"), &runs));
        }
    }
    let pace = Pace {
        answers: settings.sockets,
        per_second: 1000,
    };
    figures.extend(
        waiting(
            settings,
            Plan {
                transport: Transport::Sockets,
                waiters: settings.sockets,
                pace,
            },
        )
        .await?,
    );
    let pace = Pace {
        answers: 1000,
        per_second: 1000,
    };
    figures.extend(
        waiting(
            settings,
            Plan {
                transport: Transport::Streams,
                waiters: settings.streams,
                pace,
            },
        )
        .await?,
    );
    Ok(figures)
}

fn throughput(name: &str, runs: &[Sample]) -> Vec<Figure> {
    let figure = |what: &str, unit: &'static str, quantity: fn(&Sample) -> f64| {
        Figure::single(format!("{name}: {what}"), unit, runs.iter().map(quantity).collect())
    };
    vec![
        figure("rate", "1/s", Sample::per_second),
        figure("p50", "ms", |run| run.millis(0.5)),
        figure("p99", "ms", |run| run.millis(0.99)),
        figure("cpu each", "µs", Sample::cpu_micros_each),
        figure("flushes each", "1", Sample::flushes_each),
    ]
}

async fn waiting(settings: &Settings, plan: Plan) -> Result<Vec<Figure>> {
    let mut runs = Vec::new();
    for _ in 0..settings.rounds.div_ceil(2) {
        runs.push(on_ceiling(settings, plan).await?);
    }
    let kind = match plan.transport {
        Transport::Sockets => "sockets",
        Transport::Streams => "streams",
    };
    let figure = |what: &str, unit: &'static str, quantity: fn(&WaitCost) -> f64| {
        Figure::single(
            format!("{} {kind}: {what}", plan.waiters),
            unit,
            runs.iter().map(quantity).collect(),
        )
    };
    Ok(vec![
        figure("memory", "KiB", |run| run.bytes_each / 1024.0),
        figure("p50", "ms", |run| run.p50_ms),
        figure("p99", "ms", |run| run.p99_ms),
    ])
}
