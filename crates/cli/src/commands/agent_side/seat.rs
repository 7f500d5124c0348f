//! Where an agent stands: its hub, who it is there, and where it keeps its journal.

use std::path::PathBuf;

use anyhow::{Context, Result};
use countersign_agent::{Error, Hub, Journal};
use countersign_client::data_dir;

use super::kept::{self, KeptAgent};
use super::variable;
use crate::args::Globals;
use crate::client::{Client, HubError, Location, Place};
use crate::screen;

const UNAUTHENTICATED: u16 = 401;
/// Who asks on the hub of the data directory when nobody else is named.
pub const DEFAULT_AGENT: &str = "cli";

pub struct Seat {
    pub hub: Hub,
    pub agent_id: String,
    /// For what the SDK has no call for, with the agent's own token.
    pub client: Client,
    /// Only on the hub of the data directory, and only when no token was named.
    pub owner: Option<Client>,
    kept_in: Option<PathBuf>,
}

impl Seat {
    /// `agent` is the one named by the command; a token in the environment belongs to an agent that must be named too.
    pub async fn take(agent: Option<&str>, globals: &Globals) -> Result<Self> {
        let data = || data_dir::resolve(globals.data.as_deref());
        let mut location = Location::find(data)?;
        let agent = agent.map(str::to_owned).or_else(|| variable("COUNTERSIGN_AGENT"));
        let local = match &location.place {
            Place::DataDirectory(data) if variable("COUNTERSIGN_TOKEN").is_none() => Some(data.clone()),
            Place::DataDirectory(_) | Place::Environment => None,
        };
        let Some(data) = local else {
            let unnamed = "COUNTERSIGN_TOKEN is the token of an agent: name it with --agent ID or COUNTERSIGN_AGENT";
            let agent_id = agent.context(unnamed)?;
            let seat = Self::new(location, agent_id)?;
            seat.warn_if_exposed();
            return Ok(seat);
        };
        let agent_id = agent.unwrap_or_else(|| DEFAULT_AGENT.to_owned());
        let owner = Client::new(location.clone())?;
        location.token = KeptAgent::read_or_add(&data, &agent_id, &owner).await?.token;
        let kept_in = Some(kept::path(&data, &agent_id)?);
        Ok(Self {
            owner: Some(owner),
            kept_in,
            ..Self::new(location, agent_id)?
        })
    }

    /// The seat of an agent whose credential is there; nobody is added.
    pub fn held(agent: Option<&str>, globals: &Globals) -> Result<Option<Self>> {
        let named = variable("COUNTERSIGN_URL");
        let token = variable("COUNTERSIGN_TOKEN");
        if named.is_some() && token.is_none() {
            return Ok(None);
        }
        let mut location = match Location::find(|| data_dir::resolve(globals.data.as_deref())) {
            Ok(location) => location,
            Err(error) if named.is_some() => return Err(error),
            Err(_) => return Ok(None),
        };
        let agent = agent.map(str::to_owned).or_else(|| variable("COUNTERSIGN_AGENT"));
        let data = match (&location.place, token) {
            (Place::DataDirectory(data), None) => data.clone(),
            (Place::DataDirectory(_), Some(_)) | (Place::Environment, _) => {
                return agent.map(|agent_id| Self::new(location, agent_id)).transpose();
            }
        };
        let agent_id = agent.unwrap_or_else(|| DEFAULT_AGENT.to_owned());
        let Some(kept) = KeptAgent::read(&data, &agent_id)? else {
            return Ok(None);
        };
        location.token = kept.token;
        let kept_in = Some(kept::path(&data, &agent_id)?);
        Ok(Some(Self {
            kept_in,
            ..Self::new(location, agent_id)?
        }))
    }

    fn new(location: Location, agent_id: String) -> Result<Self> {
        let hub = Hub::with_client(location.url.clone(), location.token.clone(), location.http().build()?);
        Ok(Self {
            hub,
            agent_id,
            client: Client::new(location)?,
            owner: None,
            kept_in: None,
        })
    }

    /// A refusal of the token says where it comes from.
    pub fn explain(&self, error: anyhow::Error) -> anyhow::Error {
        if !error.chain().any(is_unauthenticated) {
            return error;
        }
        let agent_id = &self.agent_id;
        let hub = self.origin();
        error.context(match &self.kept_in {
            Some(path) => format!(
                "the token in {} is not valid any more: remove that file, and the agent too if the hub still has it \
                 (`countersign agent remove {agent_id}`)",
                path.display(),
            ),
            None => format!(
                "COUNTERSIGN_TOKEN is not a valid token of the agent {agent_id} at {hub}: `countersign agent rotate \
                 {agent_id}` gives it a new one"
            ),
        })
    }

    /// No refusal: a network of one's own may be trusted.
    pub fn warn_if_exposed(&self) {
        let location = self.client.location();
        if is_exposed(location) {
            screen::remark(&format!(
                "warning: the token goes to {} unencrypted, and everybody on the way can read it: use https://",
                location.shown_url()
            ));
        }
    }

    /// The hub as the journal knows it.
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
        Some(HubError::Refused { status, .. }) if status.as_u16() == UNAUTHENTICATED);
    by_sdk || by_client
}

fn is_exposed(location: &Location) -> bool {
    location.url.scheme() == "http" && !location.is_loopback()
}

/// The journal: one for everything that is asked from here, whichever hub it goes to.
pub fn open_journal(globals: &Globals) -> Result<Journal> {
    let path = journal_path(globals)?;
    Journal::open(&path).with_context(|| format!("the journal {} cannot be opened", path.display()))
}

fn journal_path(globals: &Globals) -> Result<PathBuf> {
    if let Some(path) = variable("COUNTERSIGN_JOURNAL") {
        return Ok(path.into());
    }
    let data =
        data_dir::resolve(globals.data.as_deref()).context("no place for the journal: set COUNTERSIGN_JOURNAL")?;
    Ok(data.join("agent").join("journal.db"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_plain_http_to_another_machine_is_exposed() {
        let exposed = |url| is_exposed(&Location::named(url, "t".to_owned(), Place::Environment).unwrap());
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
