//! The commands of an agent. Any outcome counts as success of the command; the exit code says which outcome it was.

pub mod act;
mod ask;
mod cancel;
mod compose;
pub mod credentials;
mod follow;
mod journal;
mod notify;
mod open;
pub mod outcome;
mod receive;
mod retry;
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
        AgentSideCommand::Seal(args) => credentials::seal::run(&args, globals),
        AgentSideCommand::Open(args) => open::run(&args, globals),
        AgentSideCommand::Receive(args) => receive::run(&args, globals).await,
        AgentSideCommand::Journal(args) => journal::run(args, globals),
    }
}

pub fn now() -> Timestamp {
    Timestamp::from_millis(jiff::Timestamp::now().as_millisecond())
}

/// An environment variable; an empty one counts as unset.
fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}
