//! The cost of a hundred times more stored messages on PostgreSQL.

mod seed;

use std::time::Duration;

use anyhow::Result;

use super::Settings;
use super::cluster::{AGENTS, Cluster};
use super::pairs::in_turns;
use crate::load::{Sample, Slot, Slots, Window, Worker, measure_spread};
use crate::process::{Postgres, wait_until_idle};
use crate::report::{Figure, Goal};

/// Both stores have the same number of open messages, as in the scenario of the embedded engine.
const OPEN_MESSAGES: usize = 2_000;
const UNTIL_DONE: Window = Window {
    warm_up: Duration::ZERO,
    length: Duration::from_secs(120),
};
/// The number of multiplied messages that are checked before the measurement.
const CHECKED_MESSAGES: usize = 100;
const READS_EACH: usize = 1_000;

struct FilledStore {
    cluster: Cluster,
    /// Ids from the whole store, by agent.
    ids: Vec<Vec<Slot>>,
}

/// Medians of one pass over the four operations, in milliseconds.
type Medians = [f64; 4];
const OPERATIONS: [&str; 4] = ["submit", "answer", "pull", "list inbox"];

/// Measures a small and a large database in turns.
pub async fn run(settings: &Settings) -> Result<Vec<Figure>> {
    let postgres = Postgres::start(&settings.hub.root)?;
    let small = fill(settings, &postgres, "small", settings.small).await?;
    let large = fill(settings, &postgres, "large", settings.large).await?;
    let mut figures = Vec::new();
    for connections in [1, AGENTS] {
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
    Ok(figures)
}

async fn fill(settings: &Settings, postgres: &Postgres, database: &str, messages: usize) -> Result<FilledStore> {
    let cluster = Cluster::start(settings, postgres, database, 1).await?;
    seed::patterns(&cluster).await?;
    // Meanwhile the hub indexes the patterns for the search.
    wait_until_idle(cluster.hubs[0].target.pid).await?;
    let client = postgres.connect(database).await?;
    seed::multiply(&client, messages - OPEN_MESSAGES).await?;
    let ids = seed::scattered(&client, &cluster.agents, READS_EACH).await?;
    seed::check_messages(&cluster, &ids, CHECKED_MESSAGES).await?;
    cluster.leave_open(OPEN_MESSAGES).await?;
    wait_until_idle(cluster.hubs[0].target.pid).await?;
    // Maintenance that the database would otherwise start by itself during the measurement.
    client.batch_execute("VACUUM ANALYZE").await?;
    client.batch_execute("CHECKPOINT").await?;
    Ok(FilledStore { cluster, ids })
}

/// Few writes, so that the small store stays small; every submitted ask is answered, so that the inbox keeps its size.
async fn operations(filled: &FilledStore, connections: usize) -> Result<Medians> {
    let FilledStore { cluster, ids } = filled;
    let (writes, reads) = if connections == 1 { (300, 1000) } else { (2000, 4000) };
    let run = async |workers: Vec<Worker>| measure_spread(&cluster.servers, workers, UNTIL_DONE).await;
    let submit = run(cluster.submit(connections, Slots::keys(writes))).await?;
    let answer = run(cluster.answer(connections, submit.ids.clone())).await?;
    let each: Vec<_> = ids[..connections]
        .iter()
        .map(|ids| ids[..reads / connections].to_vec())
        .collect();
    let pull = run(cluster.pull(&each)).await?;
    let list = run(cluster.list_inbox(connections, reads as u64)).await?;
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
            .goal(Goal::RatioAtMost(1.5))
    };
    (0..OPERATIONS.len()).map(figure).collect()
}
