//! The scenarios. Each one starts its own servers, measures hub and base in turns, and stops its servers.

mod calibrate;
mod cluster;
mod copy;
mod cueme;
mod growth;
mod growth_postgres;
mod inbox;
mod nodes;
mod pairs;
mod push;
mod raw;
mod receiver;
mod requests;
mod resolve;
mod runs;
mod settings;
mod submit;
mod viewers;
mod wait;
mod waiting;

use std::time::Instant;

use anyhow::{Context, Result};
use clap::ValueEnum;

pub use settings::Settings;

use crate::process::MachineTime;
use crate::report::Outcome;

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Scenario {
    /// Submits a second, against the ceiling
    Submit,
    /// Answers a second, against the ceiling
    Resolve,
    /// 10,000 agents waiting on sockets: memory, and latency from answer to waiter
    Wait,
    /// 50,000 agents waiting on one hub, as HTTP/2 streams
    Wait50k,
    /// What a hundred times more stored messages cost
    Growth,
    /// Signed pushes a second, with and without a receiver that hangs
    Push,
    /// The inbox of people: its first page, search, and 1,000 who look at once
    Inbox,
    /// An agent in a terminal: from its call to the request, from the answer to its output
    Cueme,
    /// Runs of strategies: from a person's answer to the next step, runs that wait, replay, a watcher that does not read
    Runs,
    /// One, two and three hubs on one PostgreSQL, against its raw commits
    Nodes,
    /// What a hundred times more stored messages cost on PostgreSQL
    GrowthPostgres,
    /// A store copied from a file to PostgreSQL
    Copy,
    /// The ceiling alone: what this machine can do now
    Calibrate,
}

impl Scenario {
    /// All scenarios that measure a hub.
    pub const HUB_SCENARIOS: [Self; 12] = [
        Self::Submit,
        Self::Resolve,
        Self::Wait,
        Self::Wait50k,
        Self::Growth,
        Self::Push,
        Self::Inbox,
        Self::Cueme,
        Self::Runs,
        Self::Nodes,
        Self::GrowthPostgres,
        Self::Copy,
    ];

    pub async fn run(self, settings: &Settings) -> Result<Outcome> {
        let before = MachineTime::now()?;
        let started = Instant::now();
        let (scenario, figures) = match self {
            Self::Submit => ("submit", submit::run(settings).await),
            Self::Resolve => ("resolve", resolve::run(settings).await),
            Self::Wait => ("wait", wait::on_sockets(settings).await),
            Self::Wait50k => ("wait50k", wait::on_streams(settings).await),
            Self::Growth => ("growth", growth::run(settings).await),
            Self::Push => ("push", push::run(settings).await),
            Self::Inbox => ("inbox", inbox::run(settings).await),
            Self::Cueme => ("cueme", cueme::run(settings).await),
            Self::Runs => ("runs", runs::run(settings).await),
            Self::Nodes => ("nodes", nodes::run(settings).await),
            Self::GrowthPostgres => ("growth-postgres", growth_postgres::run(settings).await),
            Self::Copy => ("copy", copy::run(settings).await),
            Self::Calibrate => ("calibrate", calibrate::run(settings).await),
        };
        let figures = figures.with_context(|| format!("scenario {scenario}"))?;
        let seconds = started.elapsed().as_secs_f64();
        Ok(Outcome {
            scenario,
            seconds,
            taken_by_others: before.taken_by_others()?,
            figures,
        })
    }
}
