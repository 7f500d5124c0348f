//! Whose message an answer belongs to. The hub's own key signs for every agent, and several may name the same callback
//! secret, so only the agent's token can tell.

use anyhow::{Context, Result, bail};
use countersign_agent::Journal;
use reqwest::StatusCode;
use serde_json::Value;

use super::super::seat::Seat;
use crate::args::{Globals, KeyArgs};
use crate::client::HubError;

const UNSEATED: &str = "--ed25519 needs the agent's own token, because the hub's key signs for every agent: set \
                        COUNTERSIGN_TOKEN and COUNTERSIGN_AGENT, or name an agent of the local hub whose token is kept \
                        there with --agent ID";

/// The agent that this receiver acts for.
pub struct Own {
    agent: Option<String>,
    globals: Globals,
    /// Nothing where no credential is: then the key that an agent shares with the hub is the proof.
    agent_id: Option<String>,
}

pub enum Whose {
    /// With the key that it was sent under, if the journal or the hub knows it.
    Own(Option<String>),
    Another,
}

impl Own {
    pub fn find(keys: &KeyArgs, globals: &Globals) -> Result<Self> {
        let seat = Seat::held(keys.agent.as_deref(), globals)?;
        if seat.is_none() && keys.ed25519.is_some() {
            bail!(UNSEATED);
        }
        if let Some(seat) = &seat {
            seat.warn_if_exposed();
        }
        let agent_id = seat.map(|seat| seat.agent_id);
        Ok(Self {
            agent: keys.agent.clone(),
            globals: globals.clone(),
            agent_id,
        })
    }

    /// Fails when the hub does not say.
    pub async fn whose(&self, journal: &Journal, message_id: &str) -> Result<Whose> {
        // A journal finds a message by its key as well.
        let ticket = journal
            .ticket(message_id)?
            .filter(|ticket| ticket.message_id.as_deref() == Some(message_id));
        let Some(agent_id) = &self.agent_id else {
            return Ok(Whose::Own(ticket.map(|ticket| ticket.idempotency_key)));
        };
        // It may be shared by several agents.
        if let Some(ticket) = ticket.filter(|ticket| ticket.agent_id == *agent_id) {
            return Ok(Whose::Own(Some(ticket.idempotency_key)));
        }
        // Taken anew each time: the token may have been rotated, and the hub may have moved.
        let seat = Seat::held(self.agent.as_deref(), &self.globals)?;
        let seat = seat.context("the hub or the token of the agent is not there any more, so nobody can be asked")?;
        match seat.client.get(&["v1", "messages", message_id], &[]).await {
            Ok(message) => Ok(owner(&message, agent_id)),
            Err(HubError::Refused {
                status: StatusCode::NOT_FOUND | StatusCode::GONE,
                ..
            }) => Ok(Whose::Another),
            Err(error) => Err(seat.explain(error.into())).context("the hub does not say whose message it is"),
        }
    }
}

/// A token that reaches further than the agent's own messages must not make them its own.
fn owner(message: &Value, agent_id: &str) -> Whose {
    if message.pointer("/agent/id").and_then(Value::as_str) != Some(agent_id) {
        return Whose::Another;
    }
    Whose::Own(
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
        assert!(matches!(owner(&message("alpha"), "alpha"), Whose::Own(Some(key)) if key == "k"));
        assert!(matches!(owner(&message("beta"), "alpha"), Whose::Another));
        assert!(matches!(owner(&json!({}), "alpha"), Whose::Another));
    }
}
