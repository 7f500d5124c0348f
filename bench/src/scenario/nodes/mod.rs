//! One, two and three hubs on one PostgreSQL, against raw commits to the same database.

mod limit;
mod waiting;

use anyhow::Result;

use super::Settings;
use super::cluster::{AGENTS, Cluster};
use super::pairs::{each, in_turns};
use super::raw::Raw;
use crate::load::{Sample, Slots, measure_spread};
use crate::process::{Agent, Postgres};
use crate::report::Figure;

const CONNECTIONS: usize = AGENTS;
/// Enough messages to fill every page of the inbox list.
const OPEN_MESSAGES: usize = 2_000;
const BASE: &str = "raw commits";

/// The samples of one round.
struct Pass {
    submit: Sample,
    answer: Sample,
    list: Sample,
    /// Submits of a single agent on all connections.
    single: Sample,
}

pub async fn run(settings: &Settings) -> Result<Vec<Figure>> {
    let postgres = Postgres::start(&settings.hub.root)?;
    let raw = Raw::create(&postgres).await?;
    let mut figures = Vec::new();
    for nodes in [1, 2, 3] {
        let database = format!("nodes{nodes}");
        let cluster = Cluster::start(settings, &postgres, &database, nodes).await?;
        let busy = cluster.hubs[0].add_agent("busy").await?;
        cluster.leave_open(OPEN_MESSAGES).await?;
        let (passes, base) = in_turns(
            settings.rounds,
            async || pass(settings, &cluster, &busy).await,
            async || raw.measure(CONNECTIONS, settings.window).await,
        )
        .await?;
        figures.extend(throughput(nodes, &passes, &base));
        if nodes > 1 {
            figures.extend(waiting::figures(settings, &cluster, postgres.url(&database)).await?);
        }
    }
    figures.push(limit::figure(settings, &postgres).await?);
    Ok(figures)
}

async fn pass(settings: &Settings, cluster: &Cluster, busy: &Agent) -> Result<Pass> {
    let run = async |workers| measure_spread(&cluster.servers, workers, settings.window).await;
    let submit = run(cluster.submit(CONNECTIONS, Slots::endless())).await?;
    let answer = run(cluster.answer(CONNECTIONS, submit.ids.clone())).await?;
    let list = run(cluster.list_inbox(CONNECTIONS, u64::MAX)).await?;
    let single = run(cluster.submit_of(busy, CONNECTIONS, Slots::endless())).await?;
    Ok(Pass {
        submit,
        answer,
        list,
        single,
    })
}

fn throughput(nodes: usize, passes: &[Pass], base: &[Sample]) -> Vec<Figure> {
    let plural = if nodes == 1 { "" } else { "s" };
    let name = |verb: &str, what: &str| format!("{nodes} node{plural}, {verb} at {CONNECTIONS}: {what}");
    let alone = |verb: &str, what: &str, unit: &'static str, quantity: fn(&Pass) -> f64| {
        Figure::single(name(verb, what), unit, each(passes, quantity))
    };
    let rate = |verb: &str, quantity: fn(&Pass) -> f64| {
        alone(verb, "rate", "1/s", quantity).against(BASE, each(base, Sample::per_second))
    };
    let cost = |verb: &str, quantity: fn(&Pass) -> f64| {
        alone(verb, "cpu each", "µs", quantity).against(BASE, each(base, Sample::cpu_micros_each))
    };
    let flushes = |verb: &str, quantity: fn(&Pass) -> f64| {
        alone(verb, "flushes each", "1", quantity).against(BASE, each(base, Sample::flushes_each))
    };
    let slow = |verb: &str, what: &str, quantity: fn(&Pass) -> f64, of_base: fn(&Sample) -> f64| {
        alone(verb, what, "ms", quantity).against(BASE, each(base, of_base))
    };
    vec![
        rate("submit", |pass| pass.submit.per_second()),
        slow("submit", "p50", |pass| pass.submit.millis(0.5), |raw| raw.millis(0.5)),
        slow("submit", "p99", |pass| pass.submit.millis(0.99), |raw| raw.millis(0.99)),
        cost("submit", |pass| pass.submit.cpu_micros_each()),
        flushes("submit", |pass| pass.submit.flushes_each()),
        rate("answer", |pass| pass.answer.per_second()),
        slow("answer", "p50", |pass| pass.answer.millis(0.5), |raw| raw.millis(0.5)),
        slow("answer", "p99", |pass| pass.answer.millis(0.99), |raw| raw.millis(0.99)),
        cost("answer", |pass| pass.answer.cpu_micros_each()),
        alone("list inbox", "rate", "1/s", |pass| pass.list.per_second()),
        alone("list inbox", "p50", "ms", |pass| pass.list.millis(0.5)),
        alone("list inbox", "p99", "ms", |pass| pass.list.millis(0.99)),
        alone("list inbox", "cpu each", "µs", |pass| pass.list.cpu_micros_each()),
        rate("submit of one agent", |pass| pass.single.per_second()),
    ]
}
