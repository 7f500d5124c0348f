use anyhow::Result;

use super::Settings;
use super::pairs::{each, in_turns};
use super::waiting::{Plan, Transport, WaitCost, on_ceiling, on_hub};
use crate::load::Pace;
use crate::report::{Figure, Goal};

const PER_SECOND: u32 = 1000;
const ANSWERED_STREAMS: usize = 1000;

/// Every agent waits on its own socket, and every agent is answered.
pub async fn on_sockets(settings: &Settings) -> Result<Vec<Figure>> {
    let pace = Pace {
        answers: settings.sockets,
        per_second: PER_SECOND,
    };
    let plan = Plan {
        transport: Transport::Sockets,
        waiters: settings.sockets,
        pace,
    };
    let (hub, ceiling) = pairs(settings, plan, settings.rounds).await?;
    let [memory, p50, p99] = figures("socket", plan, &hub, &ceiling);
    Ok(vec![
        memory.goal(Goal::RatioAtMost(1.0)),
        p50.goal(Goal::RatioAtMost(1.5)),
        p99.goal(Goal::RatioAtMost(2.0)),
    ])
}

/// More agents than a process may have sockets; some of them are answered.
pub async fn on_streams(settings: &Settings) -> Result<Vec<Figure>> {
    let pace = Pace {
        answers: ANSWERED_STREAMS.min(settings.streams),
        per_second: PER_SECOND,
    };
    let plan = Plan {
        transport: Transport::Streams,
        waiters: settings.streams,
        pace,
    };
    let (hub, ceiling) = pairs(settings, plan, settings.rounds.div_ceil(2)).await?;
    Ok(figures("stream", plan, &hub, &ceiling).into())
}

async fn pairs(settings: &Settings, plan: Plan, rounds: usize) -> Result<(Vec<WaitCost>, Vec<WaitCost>)> {
    in_turns(
        rounds,
        async || on_hub(settings, plan).await,
        async || on_ceiling(settings, plan).await,
    )
    .await
}

fn figures(kind: &str, plan: Plan, hub: &[WaitCost], ceiling: &[WaitCost]) -> [Figure; 3] {
    let figure = |what: &str, unit: &'static str, quantity: fn(&WaitCost) -> f64| {
        let name = format!("{} waiting, a {kind} each: {what}", plan.waiters);
        Figure::single(name, unit, each(hub, quantity)).against("ceiling", each(ceiling, quantity))
    };
    [
        figure("memory", "KiB", |run| run.bytes_each / 1024.0),
        figure("p50", "ms", |run| run.p50_ms),
        figure("p99", "ms", |run| run.p99_ms),
    ]
}
