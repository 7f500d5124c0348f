//! `run`: prepares, starts and follows a run. Progress goes to standard error, only the result to standard output.

mod answer_entry;
mod ask;
mod console;
mod ending;
mod follow;
mod handle_message;
mod hub_message;
mod id_conflict;
mod keyboard;
mod printer;
mod reconnect;
mod sent_answers;
mod start;
mod where_to_answer;

use std::path::Path;

use anyhow::{Context, Result};
use countersign_client::hub::HubClient;
use countersign_protocol::runs::PrepareRun;
use follow::FollowSession;
use start::StartInput;

use super::Finished;
use super::answer::read_free_text;
use crate::args::{ContinueArgs, RunArgs};

pub async fn run(args: &RunArgs, client: &HubClient, json: bool) -> Result<Finished> {
    let prepare = PrepareRun {
        run_id: args.run_id.clone(),
        strategy_path: Some(absolute(&args.file)?),
        model_override: args.model.clone(),
        cwd: Some(absolute(args.cwd.as_deref().unwrap_or(Path::new(".")))?),
        manifest_path: None,
    };
    let begun = start::begin(client, prepare, StartInput::Start(read_free_text(&args.input)?)).await?;
    if args.no_wait {
        begun.leave(json)
    } else {
        FollowSession::begun(begun, client, json)?.run().await
    }
}

pub async fn continue_run(args: &ContinueArgs, client: &HubClient, json: bool) -> Result<Finished> {
    let run_id = Some(args.id.clone());
    let model_override = args.model.clone();
    let prepare = PrepareRun {
        run_id,
        model_override,
        ..PrepareRun::default()
    };
    let begun = start::begin(client, prepare, StartInput::Continue(read_free_text(&args.input)?)).await?;
    if args.no_wait {
        begun.leave(json)
    } else {
        FollowSession::begun(begun, client, json)?.run().await
    }
}

/// From the first event that the hub still has.
pub async fn follow(run_id: &str, client: &HubClient, json: bool) -> Result<Finished> {
    FollowSession::from_the_beginning(run_id, client, json)
        .await?
        .run()
        .await
}

/// Paths are sent as absolute ones, because the hub has another current directory.
fn absolute(path: &Path) -> Result<String> {
    let path = std::path::absolute(path).with_context(|| format!("{} is not a valid path", path.display()))?;
    path.into_os_string()
        .into_string()
        .ok()
        .context("a path that is not valid UTF-8 cannot be sent to the hub")
}
