//! What only `cueme migrate` says to the hub.

use serde::{Deserialize, Serialize};

use super::{Hub, HubError, typed};
use crate::commands::migrate::{Agent, Request};

#[derive(Deserialize)]
struct Imported {
    imported: bool,
}

impl Hub {
    /// Joins an agent under the name it has.
    pub fn keep_name(&self, agent: &Agent) -> Result<(), HubError> {
        self.post(&["v1", "hap", "join"], &body(agent)?).map(drop)
    }

    /// Whether it was not there before.
    pub fn import(&self, request: &Request) -> Result<bool, HubError> {
        let reply: Imported = typed(&self.post(&["v1", "hap", "import"], &body(request)?)?)?;
        Ok(reply.imported)
    }
}

fn body(value: &impl Serialize) -> Result<Vec<u8>, HubError> {
    serde_json::to_vec(value).map_err(|error| HubError::Strange(error.to_string()))
}
