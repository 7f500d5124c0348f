//! `runs`: lists runs; shows, follows, stops and continues one.

mod list;
mod show;
pub mod stop;
mod summary;

use anyhow::Result;
use countersign_client::hub::HubClient;

use super::Finished;
use super::run::{continue_run, follow};
use crate::args::{RunsArgs, RunsCommand};

pub async fn run(args: RunsArgs, client: &HubClient, json: bool) -> Result<Finished> {
    match args.command {
        None => {
            let max_runs = (!args.all).then_some(args.limit as usize);
            list::run(max_runs, client, json).await.map(Finished::ok)
        }
        Some(RunsCommand::Show { id }) => show::run(&id, client, json).await.map(Finished::ok),
        Some(RunsCommand::Follow { id }) => follow(&id, client, json).await,
        Some(RunsCommand::Stop { id }) => stop::run(&id, client, json).await.map(Finished::ok),
        Some(RunsCommand::Continue(args)) => continue_run(&args, client, json).await,
    }
}
