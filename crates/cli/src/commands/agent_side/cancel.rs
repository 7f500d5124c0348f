//! `cancel`: takes an ask back, if nobody was faster.

use anyhow::Result;
use countersign_agent::{Outcome, Progress};

use super::outcome::{Report, words};
use super::seat::open_journal;
use super::wait::{Found, find};
use crate::args::{CancelArgs, Globals};
use crate::commands::Finished;
use crate::screen;

pub async fn run(args: &CancelArgs, globals: &Globals) -> Result<Finished> {
    let journal = open_journal(globals)?;
    let Found { seat, ticket, .. } = find(&args.id, args.agent.as_deref(), &journal, None, globals).await?;
    let status = match seat
        .hub
        .cancel(&ticket)
        .await
        .map_err(|error| seat.explain(error.into()))?
    {
        Progress::Ended(resolved) => {
            screen::remark(&words(&resolved));
            let report = Report::of_outcome(&resolved);
            let text = if globals.json { report.line()? } else { String::new() };
            let cancelled = resolved.outcome == Outcome::Cancelled;
            return Ok(if cancelled {
                Finished::well(text)
            } else {
                Finished::failed(text)
            });
        }
        Progress::Open => "open",
        Progress::Delivered => "delivered",
    };
    screen::complain(&format!("{} is {status} and was not cancelled", args.id));
    Ok(Finished::failed(if globals.json {
        Report::of_status(status, &ticket).line()?
    } else {
        String::new()
    }))
}
