//! `runs`: which there are, one of them, and following, stopping and continuing it.

mod list;
mod show;
mod stop;
mod summary;

use anyhow::Result;

use super::Finished;
use super::run::{follow, proceed};
use crate::args::{RunsArgs, RunsCommand};
use crate::client::Client;

pub async fn run(args: RunsArgs, client: &Client, json: bool) -> Result<Finished> {
    match args.command {
        None => {
            let most = (!args.all).then_some(args.limit as usize);
            list::run(most, client, json).await.map(Finished::well)
        }
        Some(RunsCommand::Show { id }) => show::run(&id, client, json).await.map(Finished::well),
        Some(RunsCommand::Follow { id }) => follow(&id, client, json).await,
        Some(RunsCommand::Stop { id }) => stop::run(&id, client, json).await.map(Finished::well),
        Some(RunsCommand::Continue(args)) => proceed(&args, client, json).await,
    }
}
