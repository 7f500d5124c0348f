//! `wait`: resumes waiting for a message, from any process.

use anyhow::{Context, Result, bail};
use countersign_agent::{Journal, Kind, Ticket};
use countersign_client::hub::ClientError;
use serde_json::Value;
use tokio::time::Instant;

use super::credentials::session::{AgentSession, open_journal};
use super::follow::{OutcomeFollower, deadline};
use super::outcome::AskedQuestion;
use super::retry::retry_unavailable;
use super::send;
use crate::args::{Globals, WaitArgs};
use crate::commands::Finished;

pub async fn run(args: &WaitArgs, globals: &Globals) -> Result<Finished> {
    let deadline = deadline(args.timeout);
    let journal = open_journal(globals)?;
    let FoundMessage { session, ticket, asked } =
        find(&args.id, args.agent.as_deref(), &journal, deadline, globals).await?;
    let follow = OutcomeFollower {
        session: &session,
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
pub struct FoundMessage {
    pub session: AgentSession,
    pub ticket: Ticket,
    pub asked: AskedQuestion,
}

/// Looks in the journal, else at the hub for a message sent from another machine. An unacknowledged message is sent
/// again first.
pub async fn find(
    wanted: &str,
    agent: Option<&str>,
    journal: &Journal,
    deadline: Option<Instant>,
    globals: &Globals,
) -> Result<FoundMessage> {
    let Some(ticket) = journal.ticket(wanted)? else {
        return find_at_hub(wanted, AgentSession::open(agent, globals).await?, deadline).await;
    };
    let session = AgentSession::open(agent.or(Some(&ticket.agent_id)), globals).await?;
    let Some(bytes) = journal.bytes(&session.origin(), &ticket.agent_id, &ticket.idempotency_key)? else {
        return find_at_other_address(wanted, &ticket, session, deadline).await;
    };
    let asked = AskedQuestion::in_bytes(&bytes).context("the journal holds an unreadable message")?;
    let ticket = match ticket.message_id {
        Some(_) => ticket,
        None => send::resend(&session, journal, &ticket, deadline).await?,
    };
    Ok(FoundMessage { session, ticket, asked })
}

/// The message was sent to another address. The token must not go there, but the same hub may have moved here.
async fn find_at_other_address(
    wanted: &str,
    ticket: &Ticket,
    session: AgentSession,
    deadline: Option<Instant>,
) -> Result<FoundMessage> {
    match &ticket.message_id {
        Some(id) => find_at_hub(id, session, deadline).await,
        None => bail!(
            "{wanted} was addressed to another hub than {}: set COUNTERSIGN_URL to that hub",
            session.origin()
        ),
    }
}

async fn find_at_hub(id: &str, session: AgentSession, deadline: Option<Instant>) -> Result<FoundMessage> {
    let found = retry_unavailable(deadline, async || {
        session.client.get(&["v1", "messages", id], &[]).await
    })
    .await;
    let envelope = match found {
        Ok(envelope) => envelope,
        Err(error) => return Err(session.explain(unknown(error, id, &session.agent_id))),
    };
    let text = |key: &str| envelope.get(key).and_then(Value::as_str);
    let kind: Option<Kind> = text("type").and_then(|word| word.parse().ok());
    let ticket = Ticket {
        idempotency_key: text("idempotency_key").unwrap_or_default().to_owned(),
        agent_id: session.agent_id.clone(),
        message_id: Some(id.to_owned()),
        poll_url: Some(session.client.url(&["v1", "messages", id]).to_string()),
        review_url: None,
        notice: None,
        kind: kind.context("unexpected reply from the hub: a message without a type")?,
    };
    Ok(FoundMessage {
        asked: AskedQuestion::in_envelope(&envelope),
        ticket,
        session,
    })
}

fn unknown(error: ClientError, id: &str, agent_id: &str) -> anyhow::Error {
    if error.has_code("not_found") {
        let hint = "a message of another agent needs --agent ID; `countersign journal` lists what was sent from here";
        return anyhow::anyhow!("no message {id} of the agent {agent_id}: {hint} (not_found)");
    }
    error.into()
}
