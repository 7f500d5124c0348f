//! `notify`: tells people something.

use anyhow::Result;
use countersign_agent::Notify;
use countersign_client::screen;

use super::compose::content::{identity, with_content};
use super::compose::input::Inputs;
use super::credentials::session::{AgentSession, open_journal};
use super::outcome::OutcomeReport;
use super::{now, send};
use crate::args::{Globals, NotifyArgs};
use crate::commands::Finished;

pub async fn run(args: &NotifyArgs, globals: &Globals) -> Result<Finished> {
    let notify = with_content!(Notify::new(&args.content.title), &args.content, &mut Inputs::default());
    let session = AgentSession::open(args.content.agent.as_deref(), globals).await?;
    let draft = notify.draft(
        &identity(&args.content, &session),
        send::version(&session).await?,
        now(),
    )?;
    let ticket = send::submit(&session, &open_journal(globals)?, &draft, None).await?;
    let id = ticket.message_id.as_deref().unwrap_or_default();
    screen::print_notice("sent");
    let text = if globals.json {
        OutcomeReport::of_status("delivered", &ticket).line()?
    } else {
        screen::escape(id) + "\n"
    };
    Ok(Finished::ok(text))
}
