//! `ask`: one question to a person.

use anyhow::{Context, Result};
use countersign_agent::{Addressed, Ask, Choice, TEXT_FIELD, Unaddressed};
use countersign_client::screen;
use countersign_protocol::a2h::{APPROVE, DENY};
use countersign_protocol::json as strict_json;
use serde_json::{Value, json};

use super::compose::content::{identity, with_content, with_request};
use super::compose::input::Inputs;
use super::compose::resolvers::resolvers;
use super::credentials::session::{AgentSession, open_journal};
use super::follow::{OutcomeFollower, deadline, resume_command};
use super::outcome::{AskedQuestion, OutcomeReport};
use super::{now, send};
use crate::args::{AskArgs, Globals};
use crate::commands::Finished;

const MAX_SCHEMA_BYTES: u64 = 256 * 1024;

pub async fn run(args: &AskArgs, globals: &Globals) -> Result<Finished> {
    let deadline = deadline(args.request.timeout);
    let mut inputs = Inputs::default();
    let question = question(args, &mut inputs)?;
    let ask = with_content!(question, &args.content, &mut inputs);
    let ask = with_request!(ask, &args.request, &mut inputs, now());
    let session = AgentSession::open(args.content.agent.as_deref(), globals).await?;
    let to = resolvers(&args.request.to, &session).await?;
    let ask: Ask<Addressed> = ask.to(to.iter().cloned());
    let draft = ask
        .draft(
            &identity(&args.content, &session),
            send::version(&session).await?,
            now(),
        )
        .map_err(send::name_option)?;
    let journal = open_journal(globals)?;
    let ticket = send::submit(&session, &journal, &draft, deadline).await?;
    let asked = AskedQuestion::in_bytes(draft.bytes()).context("the envelope is unreadable")?;
    let follow = OutcomeFollower {
        session: &session,
        journal: &journal,
        ticket: &ticket,
        asked,
        deadline,
        exec: &args.request.exec,
        globals,
    };
    sent("Asked", &to, args.request.detach, follow).await
}

/// Reports that the hub has the message, and waits for the outcome unless detached.
pub async fn sent(verb: &str, to: &[String], detach: bool, follow: OutcomeFollower<'_>) -> Result<Finished> {
    let ticket = follow.ticket;
    let globals = follow.globals;
    let to = names(to);
    let resume = resume_command(ticket, globals);
    let place = ticket.review_url.as_deref().map(|url| format!(" Answer at {url}"));
    let place = place.unwrap_or_default();
    if !detach {
        screen::print_notice(&format!(
            "Waiting for {to}.{place} (Ctrl-C is safe; resume with `{resume}`)"
        ));
        return follow.finish().await;
    }
    screen::print_notice(&format!("{verb} {to}.{place} (wait with `{resume}`)"));
    let id = ticket.message_id.as_deref().unwrap_or_default();
    let text = if globals.json {
        OutcomeReport::of_status("open", ticket).line()?
    } else {
        screen::escape(id) + "\n"
    };
    Ok(Finished::ok(text))
}

fn names(to: &[String]) -> String {
    let names: Vec<&str> = to.iter().map(|actor| screen::actor_label(actor)).collect();
    names.join(" or ")
}

fn question(args: &AskArgs, inputs: &mut Inputs) -> Result<Ask<Unaddressed>> {
    let title = &args.content.title;
    let ask = if let Some(source) = &args.form {
        Ask::form(title, inputs.object("--form", source, MAX_SCHEMA_BYTES)?)
    } else if !args.select.is_empty() {
        Ask::select(
            title,
            args.select.iter().map(|pick| Choice::new(&pick.value, &pick.label)),
        )
    } else if args.is_confirm() {
        confirm(args)
    } else {
        Ask::text(title)
    };
    Ok(match &args.default {
        Some(text) => ask.default_on_expire(default(args, text)?),
        None => ask,
    })
}

fn confirm(args: &AskArgs) -> Ask<Unaddressed> {
    if args.yes.is_none() && args.no.is_none() {
        return Ask::confirm(&args.content.title);
    }
    let choice = |value, label: &Option<String>, otherwise| Choice::new(value, label.as_deref().unwrap_or(otherwise));
    Ask::confirm_with(
        &args.content.title,
        choice(APPROVE, &args.yes, "Yes"),
        choice(DENY, &args.no, "No"),
    )
}

/// A confirm also accepts `yes` and `no`; a form takes a JSON object.
fn default(args: &AskArgs, text: &str) -> Result<Value> {
    if args.form.is_some() {
        return strict_json::parse(text.as_bytes()).context("--default of a form is a JSON object");
    }
    Ok(match text {
        "yes" if args.is_confirm() => APPROVE.into(),
        "no" if args.is_confirm() => DENY.into(),
        text if args.is_text() => json!({ TEXT_FIELD: text }),
        text => text.into(),
    })
}
