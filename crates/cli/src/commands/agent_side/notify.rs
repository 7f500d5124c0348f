//! `notify`: tells people something.

use anyhow::Result;
use countersign_agent::Notify;

use super::content::{identity, with_content};
use super::input::Inputs;
use super::outcome::Report;
use super::seat::{Seat, open_journal};
use super::{now, send};
use crate::args::{Globals, NotifyArgs};
use crate::commands::Finished;
use crate::screen;

pub async fn run(args: &NotifyArgs, globals: &Globals) -> Result<Finished> {
    let notify = with_content!(Notify::new(&args.content.title), &args.content, &mut Inputs::default());
    let seat = Seat::take(args.content.agent.as_deref(), globals).await?;
    let draft = notify.draft(&identity(&args.content, &seat), send::version(&seat).await?, now())?;
    let ticket = send::submit(&seat, &open_journal(globals)?, &draft, None).await?;
    let id = ticket.message_id.as_deref().unwrap_or_default();
    screen::remark("told");
    let text = if globals.json {
        Report::of_status("delivered", &ticket).line()?
    } else {
        screen::escape(id) + "\n"
    };
    Ok(Finished::well(text))
}
