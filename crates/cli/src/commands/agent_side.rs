//! The commands of an agent. A hub's answer that is there is no failure: what it was, the exit code says.

pub mod act;
mod ask;
mod cancel;
mod content;
mod follow;
mod input;
mod journal;
pub mod kept;
mod keys;
mod notify;
mod open;
pub mod outcome;
mod patient;
mod receive;
mod resolvers;
mod seal;
pub mod seat;
mod send;
mod task;
mod verify;
mod wait;

use anyhow::Result;
use countersign_agent::Timestamp;

use super::Finished;
use crate::args::{AgentSideCommand, Globals};

pub async fn run(command: AgentSideCommand, globals: &Globals) -> Result<Finished> {
    match command {
        AgentSideCommand::Ask(args) => ask::run(&args, globals).await,
        AgentSideCommand::Notify(args) => notify::run(&args, globals).await,
        AgentSideCommand::Task(args) => task::run(&args, globals).await,
        AgentSideCommand::Wait(args) => wait::run(&args, globals).await,
        AgentSideCommand::Cancel(args) => cancel::run(&args, globals).await,
        AgentSideCommand::Verify(args) => verify::run(&args, globals).await,
        AgentSideCommand::Seal(args) => seal::run(&args, globals),
        AgentSideCommand::Open(args) => open::run(&args, globals),
        AgentSideCommand::Receive(args) => receive::run(&args, globals).await,
        AgentSideCommand::Journal(args) => journal::run(args, globals),
    }
}

pub fn now() -> Timestamp {
    Timestamp::from_millis(jiff::Timestamp::now().as_millisecond())
}

/// A variable of the environment; an empty one is none.
fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}
