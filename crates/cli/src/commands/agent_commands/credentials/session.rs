//! An agent's session: its hub, its identity there and its journal.

use std::path::PathBuf;

use anyhow::{Context, Result};
use countersign_agent::{Client as AgentClient, Error, Journal};
use countersign_client::data_dir;
use countersign_client::hub::{AddressSource, ClientError, HubClient, HubLocation};
use countersign_client::screen;

use super::stored_agent::{self, StoredAgent};
use crate::args::Globals;
use crate::commands::agent_commands::variable;

const UNAUTHENTICATED: u16 = 401;
/// The agent used on the local hub if none is named.
pub const DEFAULT_AGENT: &str = "cli";

pub struct AgentSession {
    pub hub: AgentClient,
    pub agent_id: String,
    /// For calls that the SDK lacks, with the agent's token.
    pub client: HubClient,
    /// Only on the hub of the data directory, and only without an explicit token.
    pub owner: Option<HubClient>,
    stored_in: Option<PathBuf>,
}

impl AgentSession {
    /// `agent` is named by the command; a token from the environment needs an agent named as well.
    pub async fn open(agent: Option<&str>, globals: &Globals) -> Result<Self> {
        let data = || data_dir::resolve(globals.data.as_deref());
        let mut location = HubLocation::find(data)?;
        let agent = agent.map(str::to_owned).or_else(|| variable("COUNTERSIGN_AGENT"));
        let local = match &location.source {
            AddressSource::DataDirectory(data) if variable("COUNTERSIGN_TOKEN").is_none() => Some(data.clone()),
            AddressSource::DataDirectory(_) | AddressSource::Environment => None,
        };
        let Some(data) = local else {
            let unnamed = "COUNTERSIGN_TOKEN is the token of an agent: name it with --agent ID or COUNTERSIGN_AGENT";
            let agent_id = agent.context(unnamed)?;
            let session = Self::new(location, agent_id)?;
            session.warn_if_exposed();
            return Ok(session);
        };
        let agent_id = agent.unwrap_or_else(|| DEFAULT_AGENT.to_owned());
        let owner = HubClient::new(location.clone())?;
        location.token = StoredAgent::read_or_add(&data, &agent_id, &owner).await?.token;
        let stored_in = Some(stored_agent::path(&data, &agent_id)?);
        Ok(Self {
            owner: Some(owner),
            stored_in,
            ..Self::new(location, agent_id)?
        })
    }

    /// The session of an agent with a stored credential; no agent is added.
    pub fn open_stored(agent: Option<&str>, globals: &Globals) -> Result<Option<Self>> {
        let named = variable("COUNTERSIGN_URL");
        let token = variable("COUNTERSIGN_TOKEN");
        if named.is_some() && token.is_none() {
            return Ok(None);
        }
        let mut location = match HubLocation::find(|| data_dir::resolve(globals.data.as_deref())) {
            Ok(location) => location,
            Err(error) if named.is_some() => return Err(error),
            Err(_) => return Ok(None),
        };
        let agent = agent.map(str::to_owned).or_else(|| variable("COUNTERSIGN_AGENT"));
        let data = match (&location.source, token) {
            (AddressSource::DataDirectory(data), None) => data.clone(),
            (AddressSource::DataDirectory(_), Some(_)) | (AddressSource::Environment, _) => {
                return agent.map(|agent_id| Self::new(location, agent_id)).transpose();
            }
        };
        let agent_id = agent.unwrap_or_else(|| DEFAULT_AGENT.to_owned());
        let Some(kept) = StoredAgent::read(&data, &agent_id)? else {
            return Ok(None);
        };
        location.token = kept.token;
        let stored_in = Some(stored_agent::path(&data, &agent_id)?);
        Ok(Some(Self {
            stored_in,
            ..Self::new(location, agent_id)?
        }))
    }

    fn new(location: HubLocation, agent_id: String) -> Result<Self> {
        let hub = AgentClient::with_client(location.url.clone(), location.token.clone(), location.http().build()?);
        Ok(Self {
            hub,
            agent_id,
            client: HubClient::new(location)?,
            owner: None,
            stored_in: None,
        })
    }

    /// Adds the origin of the token to an authentication error.
    pub fn explain(&self, error: anyhow::Error) -> anyhow::Error {
        if !error.chain().any(is_unauthenticated) {
            return error;
        }
        let agent_id = &self.agent_id;
        let hub = self.origin();
        error.context(match &self.stored_in {
            Some(path) => format!(
                "the token in {} is no longer valid: remove that file, and the agent too if the hub still has it \
                 (`countersign agent remove {agent_id}`)",
                path.display(),
            ),
            None => format!(
                "COUNTERSIGN_TOKEN is not a valid token of the agent {agent_id} at {hub}: `countersign agent rotate \
                 {agent_id}` gives it a new one"
            ),
        })
    }

    /// A warning only, because the user may trust the network.
    pub fn warn_if_exposed(&self) {
        let location = self.client.location();
        if is_exposed(location) {
            screen::print_notice(&format!(
                "warning: the token goes to {} unencrypted, and anyone on the network path can read it: use https://",
                location.shown_url()
            ));
        }
    }

    /// The hub's origin as recorded in the journal.
    pub fn origin(&self) -> String {
        self.client.location().shown_url()
    }
}

fn is_unauthenticated(cause: &(dyn std::error::Error + 'static)) -> bool {
    let by_sdk = matches!(
        cause.downcast_ref(),
        Some(Error::Refused {
            status: UNAUTHENTICATED,
            ..
        })
    );
    let by_client = matches!(cause.downcast_ref(),
        Some(ClientError::Refused { status, .. }) if status.as_u16() == UNAUTHENTICATED);
    by_sdk || by_client
}

fn is_exposed(location: &HubLocation) -> bool {
    location.url.scheme() == "http" && !location.is_loopback()
}

/// The journal of all messages sent from this machine, to any hub.
pub fn open_journal(globals: &Globals) -> Result<Journal> {
    let path = journal_path(globals)?;
    Journal::open(&path).with_context(|| format!("the journal {} cannot be opened", path.display()))
}

fn journal_path(globals: &Globals) -> Result<PathBuf> {
    if let Some(path) = variable("COUNTERSIGN_JOURNAL") {
        return Ok(path.into());
    }
    let data =
        data_dir::resolve(globals.data.as_deref()).context("no directory for the journal: set COUNTERSIGN_JOURNAL")?;
    Ok(data.join("agent").join("journal.db"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_plain_http_to_another_machine_is_exposed() {
        let exposed = |url| is_exposed(&HubLocation::named(url, "t".to_owned(), AddressSource::Environment).unwrap());
        assert!(exposed("http://hub.example:7422") && exposed("http://192.168.1.4"));
        for url in [
            "https://hub.example",
            "http://127.0.0.1:7422",
            "http://localhost:7422",
            "http://[::1]:7422",
        ] {
            assert!(!exposed(url), "{url}");
        }
    }
}
