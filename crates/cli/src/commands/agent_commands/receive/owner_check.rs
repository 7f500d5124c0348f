//! Checks which agent a pushed answer belongs to. The hub's key signs for every agent, and several agents may share a
//! callback secret, so only the agent's token can decide.

use anyhow::{Context, Result, bail};
use countersign_agent::Journal;
use countersign_client::hub::ClientError;
use reqwest::StatusCode;
use serde_json::Value;

use crate::args::{Globals, KeyArgs};
use crate::commands::agent_commands::credentials::session::AgentSession;

const NO_TOKEN: &str = "--ed25519 needs the agent's own token, because the hub's key signs for every agent: set \
                        COUNTERSIGN_TOKEN and COUNTERSIGN_AGENT, or name an agent of the local hub whose token is stored \
                        there with --agent ID";

/// The agent that this receiver acts for.
pub struct OwnerCheck {
    agent: Option<String>,
    globals: Globals,
    /// None without a credential; then the key shared between agent and hub is the proof.
    agent_id: Option<String>,
}

pub enum Owner {
    /// Holds the idempotency key, if the journal or the hub knows it.
    Own(Option<String>),
    Another,
}

impl OwnerCheck {
    pub fn find(keys: &KeyArgs, globals: &Globals) -> Result<Self> {
        let session = AgentSession::open_stored(keys.agent.as_deref(), globals)?;
        if session.is_none() && keys.ed25519.is_some() {
            bail!(NO_TOKEN);
        }
        if let Some(session) = &session {
            session.warn_if_exposed();
        }
        let agent_id = session.map(|session| session.agent_id);
        Ok(Self {
            agent: keys.agent.clone(),
            globals: globals.clone(),
            agent_id,
        })
    }

    /// Fails if the hub does not answer.
    pub async fn owner_of(&self, journal: &Journal, message_id: &str) -> Result<Owner> {
        // The journal also finds messages by key, so the id is compared.
        let ticket = journal
            .ticket(message_id)?
            .filter(|ticket| ticket.message_id.as_deref() == Some(message_id));
        let Some(agent_id) = &self.agent_id else {
            return Ok(Owner::Own(ticket.map(|ticket| ticket.idempotency_key)));
        };
        // The journal may be shared by several agents.
        if let Some(ticket) = ticket.filter(|ticket| ticket.agent_id == *agent_id) {
            return Ok(Owner::Own(Some(ticket.idempotency_key)));
        }
        // Opened again for each push: the token may have been rotated, or the hub may have moved.
        let session = AgentSession::open_stored(self.agent.as_deref(), &self.globals)?;
        let session =
            session.context("the hub or the agent's token is gone, so the owner of the message cannot be checked")?;
        match session.client.get(&["v1", "messages", message_id], &[]).await {
            Ok(message) => Ok(owner_in(&message, agent_id)),
            Err(ClientError::Refused {
                status: StatusCode::NOT_FOUND | StatusCode::GONE,
                ..
            }) => Ok(Owner::Another),
            Err(error) => Err(session.explain(error.into())).context("looking up the owner of the message failed"),
        }
    }
}

/// A token with wider access must not make another agent's messages its own.
fn owner_in(message: &Value, agent_id: &str) -> Owner {
    if message.pointer("/agent/id").and_then(Value::as_str) != Some(agent_id) {
        return Owner::Another;
    }
    Owner::Own(
        message
            .get("idempotency_key")
            .and_then(Value::as_str)
            .map(str::to_owned),
    )
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn only_the_agents_own_message_is_its_own() {
        let message = |agent: &str| json!({"agent": {"id": agent}, "idempotency_key": "k"});
        assert!(matches!(owner_in(&message("alpha"), "alpha"), Owner::Own(Some(key)) if key == "k"));
        assert!(matches!(owner_in(&message("beta"), "alpha"), Owner::Another));
        assert!(matches!(owner_in(&json!({}), "alpha"), Owner::Another));
    }
}
