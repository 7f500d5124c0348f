//! Where an agent stands: its hub, who it is there, and where it keeps its journal.

use std::path::PathBuf;

use anyhow::{Context, Result};
use countersign_agent::{Error, Hub, Journal};

use super::kept::{self, KeptAgent, make_private_dir};
use super::variable;
use crate::args::Globals;
use crate::client::{Client, Location, Place};
use crate::data_dir;

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
            return Self::new(location, agent_id);
        };
        let agent_id = agent.unwrap_or_else(|| DEFAULT_AGENT.to_owned());
        let owner = Client::new(location.clone())?;
        location.token = KeptAgent::read_or_add(&data, &agent_id, &owner).await?.token;
        let kept_in = Some(kept::path(&data, &agent_id)?);
        Ok(Self { owner: Some(owner), kept_in, ..Self::new(location, agent_id)? })
    }

    fn new(location: Location, agent_id: String) -> Result<Self> {
        let hub = Hub::with_client(location.url.clone(), location.token.clone(), location.http().build()?);
        Ok(Self { hub, agent_id, client: Client::new(location)?, owner: None, kept_in: None })
    }

    /// A refusal of the kept token says which file holds it.
    pub fn explain(&self, error: anyhow::Error) -> anyhow::Error {
        let refused = error
            .chain()
            .any(|cause| matches!(cause.downcast_ref::<Error>(), Some(Error::Refused { status: UNAUTHENTICATED, .. })));
        let Some(path) = self.kept_in.as_ref().filter(|_| refused) else { return error };
        error.context(format!(
            "the token in {} is not valid any more: remove that file, and the agent too if the hub still has it \
             (`countersign agent remove {}`)",
            path.display(),
            self.agent_id
        ))
    }

    /// The hub as the journal knows it.
    pub fn origin(&self) -> String {
        self.client.location().shown_url()
    }
}

/// The journal: one for everything that is asked from here, whichever hub it goes to.
pub fn open_journal(globals: &Globals) -> Result<Journal> {
    let path = journal_path(globals)?;
    make_private_dir(&path)?;
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
