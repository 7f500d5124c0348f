//! `cancel`: withdraws an ask that is not resolved yet.

use anyhow::Result;
use countersign_agent::{Outcome, Progress};
use countersign_client::screen;

use super::credentials::session::open_journal;
use super::outcome::{OutcomeReport, outcome_line};
use super::wait::{FoundMessage, find};
use crate::args::{CancelArgs, Globals};
use crate::commands::Finished;

pub async fn run(args: &CancelArgs, globals: &Globals) -> Result<Finished> {
    let journal = open_journal(globals)?;
    let FoundMessage { session, ticket, .. } = find(&args.id, args.agent.as_deref(), &journal, None, globals).await?;
    let status = match session
        .hub
        .cancel(&ticket)
        .await
        .map_err(|error| session.explain(error.into()))?
    {
        Progress::Ended(resolved) => {
            screen::print_notice(&outcome_line(&resolved));
            let report = OutcomeReport::of_outcome(&resolved);
            let text = if globals.json { report.line()? } else { String::new() };
            let cancelled = resolved.outcome == Outcome::Cancelled;
            return Ok(if cancelled {
                Finished::ok(text)
            } else {
                Finished::failed(text)
            });
        }
        Progress::Open => "open",
        Progress::Delivered => "delivered",
    };
    screen::print_error(&format!("{} is {status} and was not cancelled", args.id));
    Ok(Finished::failed(if globals.json {
        OutcomeReport::of_status(status, &ticket).line()?
    } else {
        String::new()
    }))
}
