//! The agent's half of the test: seal, submit, replay, and check the result.

use std::path::PathBuf;

use anyhow::{Context, Result, bail};
use countersign_agent::{
    Binding, Client as AgentClient, Identity, Journal, Kind, Progress, Resolved, Ticket, open, open_state, seal,
    sealed_state,
};
use countersign_client::screen::escape;
use serde_json::{Value, json};

use super::cleanup::Cleanup;
use super::hub_access::{HubAccess, SmokeAgent};
use super::people::People;
use super::plan::SmokePlan;
use super::scratch::ScratchDir;
use super::seal_key::KeySource;
use super::test_message::{self, MessageFrame};
use super::{fresh_name, open_journal};
use crate::commands::agent_commands::now;

pub struct AgentHalf {
    pub hub: AgentClient,
    pub journal: Journal,
    pub people: Option<People>,
    pub callback_url: Option<String>,
    pub signing_keys: Vec<String>,
    /// The file in which the acts are counted.
    pub acts: PathBuf,
    pub agent_id: String,
    pub key: String,
    pub seal_key: KeySource,
    pub state: Value,
    kind: Kind,
    sealed: String,
}

impl AgentHalf {
    pub fn prepare(
        plan: &SmokePlan,
        hub_access: &HubAccess,
        agent: SmokeAgent,
        people: Option<People>,
        scratch: &ScratchDir,
        callback_url: Option<String>,
    ) -> Result<(Self, String)> {
        if plan.push && agent.signing_keys.is_empty() {
            bail!(
                "{} is not set: it must hold the signing key of {}",
                plan.signing_key_env,
                agent.id
            );
        }
        let seal_key = match plan.kind {
            Kind::Notify => KeySource::temporary(scratch)?,
            Kind::Ask | Kind::Task => KeySource::of(&plan.seal_key_env, scratch)?,
        };
        let words = match (plan.kind, &seal_key) {
            (Kind::Notify, _) => "a notify has no state".to_owned(),
            (_, KeySource::Variable(name)) => format!("the state is sealed with the key in {name}"),
            (_, KeySource::File(_)) => {
                format!(
                    "the state is sealed with a temporary key: {} is not set",
                    plan.seal_key_env
                )
            }
        };
        let key = fresh_name();
        let state = json!({ "step": "after the answer", "nonce": fresh_name() });
        let sealed = sealed(&seal_key, &state, &agent, &key)?;
        let agent_half = Self {
            hub: hub_access.hub(&agent.token)?,
            journal: open_journal(scratch)?,
            people,
            callback_url,
            signing_keys: agent.signing_keys,
            acts: scratch.path("acts"),
            agent_id: agent.id,
            key,
            seal_key,
            state,
            kind: plan.kind,
            sealed,
        };
        Ok((agent_half, words))
    }

    pub async fn submit(&self, cleanup: &mut Cleanup) -> Result<(Ticket, String)> {
        let identity = Identity::new(&self.agent_id);
        let frame = MessageFrame {
            identity: &identity,
            version: self.hub.version().await?,
            now: now(),
            key: &self.key,
            resolvers: self
                .people
                .as_ref()
                .map(|people| people.resolvers.as_slice())
                .unwrap_or_default(),
            callback: self.callback_url.as_deref(),
            state: sealed_state(&self.sealed),
        };
        let draft = test_message::draft(self.kind, &frame)?;
        let ticket = self
            .hub
            .submit(&self.journal, &draft)
            .await
            .map_err(|error| self.explain(error))?;
        cleanup.ticket = Some((self.hub.clone(), ticket.clone()));
        let id = ticket.message_id.as_deref().unwrap_or_default();
        let words = format!("{} {} with the key {}", self.kind, escape(id), self.key);
        Ok((ticket, words))
    }

    /// A refused callback has one of two causes; the error names both remedies.
    fn explain(&self, error: countersign_agent::Error) -> anyhow::Error {
        let about_callback = |field: &Option<String>| field.as_deref().is_some_and(|field| field.contains("callback"));
        let refused = matches!(&error, countersign_agent::Error::Refused { field, .. } if about_callback(field));
        let error = anyhow::Error::from(error);
        let Some(url) = self.callback_url.as_deref().filter(|_| refused) else {
            return error;
        };
        error.context(format!(
            "the hub does not push to {url}; to test on one machine start it with \
             `countersign serve --allow-loopback-callbacks`, and have the host approved with \
             `countersign agent callback approve`"
        ))
    }

    /// Sends the same bytes again, as after a lost reply.
    pub async fn replay(&self, ticket: &Ticket) -> Result<((), String)> {
        let again = self.hub.resend(&self.journal, ticket).await?;
        if again.message_id != ticket.message_id {
            bail!("the same bytes made a second message");
        }
        Ok(((), "the same bytes sent again are the same message".to_owned()))
    }

    pub async fn delivered(&self, ticket: &Ticket) -> Result<((), String)> {
        match self.hub.look(ticket).await? {
            Progress::Delivered => Ok(((), "it is in the inbox; nothing comes back".to_owned())),
            Progress::Open | Progress::Ended(_) => bail!("a notify must be delivered immediately"),
        }
    }

    /// The pushed and the pulled outcome must be the same.
    pub async fn same_by_pull(&self, ticket: &Ticket, resolved: &Resolved) -> Result<String> {
        match self.hub.look(ticket).await? {
            Progress::Ended(pulled) if pulled.act_key() == resolved.act_key() && pulled.outcome == resolved.outcome => {
                Ok("pulling gives the same outcome".to_owned())
            }
            Progress::Ended(_) | Progress::Open | Progress::Delivered => bail!("pulling gives another outcome"),
        }
    }

    /// The returned token, checked to be the one that was sent.
    pub fn token(&self, resolved: &Resolved) -> Result<String> {
        let state = resolved.state.as_ref().context("the state did not come back")?;
        let state: Value = serde_json::from_str(state.get())?;
        let token = state
            .get("sealed")
            .and_then(Value::as_str)
            .context("the state came back without its seal")?;
        if token != self.sealed {
            bail!("the state came back changed");
        }
        Ok(token.to_owned())
    }

    /// A changed state, or the state of another message, must not open.
    pub fn changed_state_is_refused(&self, resolved: &Resolved) -> Result<String> {
        let key = self.seal_key.key()?;
        let state = resolved.state.as_ref().context("the state did not come back")?;
        let own = (self.agent_id.as_str(), self.key.as_str());
        open_state(&key, state, Some(own)).context("the state that came back does not open")?;
        let token = self.token(resolved)?;
        if open(&key, &changed(&token), Some(own)).is_ok() {
            bail!("a changed state was opened");
        }
        if open(&key, &token, Some((&self.agent_id, "another-key"))).is_ok() {
            bail!("the state of one message was opened for another");
        }
        Ok("a changed state, and one of another message, do not open".to_owned())
    }
}

/// Replaces a character near the end, where every bit counts.
pub fn changed(token: &str) -> String {
    let at = token.len().saturating_sub(4);
    let other = |c: char| if c == 'A' { 'B' } else { 'A' };
    token
        .chars()
        .enumerate()
        .map(|(index, c)| if index == at { other(c) } else { c })
        .collect()
}

fn sealed(source: &KeySource, state: &Value, agent: &SmokeAgent, key: &str) -> Result<String> {
    let seal_key = source.key()?;
    let known: Vec<&str> = agent.signing_keys.iter().map(String::as_str).collect();
    seal_key.refuse_same_as(&known)?;
    Ok(seal(
        &seal_key,
        state,
        Binding::Own {
            agent_id: &agent.id,
            idempotency_key: key,
        },
    )?)
}
