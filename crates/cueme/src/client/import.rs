//! Calls that only `cueme migrate` makes.

use serde::{Deserialize, Serialize};

use super::{CuemeClient, HubError, parse_reply};
use crate::commands::migrate::{MailboxAgent, MailboxRequest};

#[derive(Deserialize)]
struct ImportReply {
    imported: bool,
}

impl CuemeClient {
    /// Joins an agent under its existing name.
    pub fn join_with_name(&self, agent: &MailboxAgent) -> Result<(), HubError> {
        self.post(&["v1", "hap", "join"], &body(agent)?).map(drop)
    }

    /// Returns whether the request is new to the hub.
    pub fn import(&self, request: &MailboxRequest) -> Result<bool, HubError> {
        let reply: ImportReply = parse_reply(&self.post(&["v1", "hap", "import"], &body(request)?)?)?;
        Ok(reply.imported)
    }
}

fn body(value: &impl Serialize) -> Result<Vec<u8>, HubError> {
    serde_json::to_vec(value).map_err(|error| HubError::UnexpectedReply(error.to_string()))
}
