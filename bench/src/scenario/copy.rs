use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};

use super::{Settings, growth, requests};
use crate::load::drain;
use crate::process::{Hub, HubOptions, Postgres};
use crate::report::Figure;

const OPEN_MESSAGES: usize = 2_000;
const READ_CONNECTIONS: usize = 32;
const READ_BACK: usize = 1_000;

/// Copies a whole store from SQLite to PostgreSQL as an operator does: stop the hub, run one command, start the next
/// hub.
pub async fn run(settings: &Settings) -> Result<Vec<Figure>> {
    let hub = Hub::start(&settings.hub).await?;
    let agent = hub.add_agent("bench").await?;
    let ids = growth::store(&hub, &agent, settings.copied, OPEN_MESSAGES.min(settings.copied)).await?;
    let from = hub.data();
    let _data = hub.stop().await?;
    let postgres = Postgres::start(&settings.hub.root)?;
    let mut seconds = Vec::new();
    for round in 0..settings.rounds {
        let database = format!("copy{round}");
        postgres.create(&database).await?;
        let url = postgres.url(&database);
        seconds.push(copy(settings, &from, &url)?.as_secs_f64());
        let hub = Hub::start(&HubOptions {
            database_url: Some(url),
            ..settings.hub.clone()
        })
        .await?;
        drain(
            hub.target,
            READ_CONNECTIONS,
            requests::pull(&agent, growth::scattered(&ids, READ_BACK)),
        )
        .await?;
    }
    let name = |what: &str| format!("{} messages to PostgreSQL: {what}", settings.copied);
    let rates = seconds.iter().map(|seconds| settings.copied as f64 / seconds).collect();
    Ok(vec![
        Figure::single(name("time"), "s", seconds),
        Figure::single(name("rate"), "1/s", rates),
    ])
}

fn copy(settings: &Settings, from: &std::path::Path, to: &str) -> Result<Duration> {
    let started = Instant::now();
    let mut command = Command::new(&settings.hub.binary);
    let ran = command
        .args(["store", "copy", "--from"])
        .arg(from)
        .args(["--to", to])
        .output();
    let ran = ran.context("cannot start the copy")?;
    let took = started.elapsed();
    ensure!(
        ran.status.success(),
        "the copy failed: {}",
        String::from_utf8_lossy(&ran.stderr)
    );
    Ok(took)
}
