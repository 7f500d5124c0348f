//! `wait`: comes back to a message, in whatever process it was sent.

use anyhow::{Context, Result, bail};
use countersign_agent::{Journal, Kind, Ticket};
use serde_json::Value;
use tokio::time::Instant;

use super::follow::{Follow, deadline};
use super::outcome::Asked;
use super::patient::outlast;
use super::seat::{Seat, open_journal};
use super::send;
use crate::args::{Globals, WaitArgs};
use crate::client::HubError;
use crate::commands::Finished;

pub async fn run(args: &WaitArgs, globals: &Globals) -> Result<Finished> {
    let deadline = deadline(args.timeout);
    let journal = open_journal(globals)?;
    let Found { seat, ticket, asked } = find(&args.id, args.agent.as_deref(), &journal, deadline, globals).await?;
    let follow = Follow {
        seat: &seat,
        journal: &journal,
        ticket: &ticket,
        asked,
        deadline,
        exec: &args.exec,
        globals,
    };
    follow.finish().await
}

/// A message that was sent before.
pub struct Found {
    pub seat: Seat,
    pub ticket: Ticket,
    pub asked: Asked,
}

/// By the journal; a message that was sent from elsewhere, by asking the hub. One that the hub has not acknowledged is
/// sent again first.
pub async fn find(
    wanted: &str,
    agent: Option<&str>,
    journal: &Journal,
    deadline: Option<Instant>,
    globals: &Globals,
) -> Result<Found> {
    let Some(ticket) = journal.ticket(wanted)? else {
        return find_at_hub(wanted, Seat::take(agent, globals).await?, deadline).await;
    };
    let seat = Seat::take(agent.or(Some(&ticket.agent_id)), globals).await?;
    let Some(bytes) = journal.bytes(&seat.origin(), &ticket.agent_id, &ticket.idempotency_key)? else {
        return find_at_other_address(wanted, &ticket, seat, deadline).await;
    };
    let asked = Asked::in_bytes(&bytes).context("the journal holds an unreadable message")?;
    let ticket = match ticket.message_id {
        Some(_) => ticket,
        None => send::resend(&seat, journal, &ticket, deadline).await?,
    };
    Ok(Found { seat, ticket, asked })
}

/// It was sent to another address. A token must not travel there, but the same hub may have moved here.
async fn find_at_other_address(wanted: &str, ticket: &Ticket, seat: Seat, deadline: Option<Instant>) -> Result<Found> {
    match &ticket.message_id {
        Some(id) => find_at_hub(id, seat, deadline).await,
        None => bail!(
            "{wanted} was to be sent to another hub than {}: set COUNTERSIGN_URL to that one",
            seat.origin()
        ),
    }
}

async fn find_at_hub(id: &str, seat: Seat, deadline: Option<Instant>) -> Result<Found> {
    let found = outlast(deadline, async || seat.client.get(&["v1", "messages", id], &[]).await).await;
    let envelope = match found {
        Ok(envelope) => envelope,
        Err(error) => return Err(seat.explain(unknown(error, id, &seat.agent_id))),
    };
    let text = |key: &str| envelope.get(key).and_then(Value::as_str);
    let kind: Option<Kind> = text("type").and_then(|word| word.parse().ok());
    let ticket = Ticket {
        idempotency_key: text("idempotency_key").unwrap_or_default().to_owned(),
        agent_id: seat.agent_id.clone(),
        message_id: Some(id.to_owned()),
        poll_url: Some(seat.client.url(&["v1", "messages", id]).to_string()),
        kind: kind.context("the hub's reply makes no sense: a message without a type")?,
    };
    Ok(Found {
        asked: Asked::in_envelope(&envelope),
        ticket,
        seat,
    })
}

fn unknown(error: HubError, id: &str, agent_id: &str) -> anyhow::Error {
    if error.has_code("not_found") {
        let hint = "a message of another agent needs --agent ID; `countersign journal` lists what was sent from here";
        return anyhow::anyhow!("no message {id} of the agent {agent_id}: {hint} (not_found)");
    }
    error.into()
}
