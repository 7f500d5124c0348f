//! The default resolvers of a message.

use anyhow::{Result, bail};
use countersign_client::hub::typed;
use countersign_protocol::api::admin::ListedPerson;

use crate::commands::agent_commands::credentials::session::AgentSession;
use crate::commands::agent_commands::retry::retry_unavailable;
use crate::commands::agent_commands::variable;
use crate::commands::local_hub::owner_among;

/// The people from the command line, else from the environment, else the owner of the local hub.
pub async fn resolvers(named: &[String], session: &AgentSession) -> Result<Vec<String>> {
    if !named.is_empty() {
        return Ok(named.to_vec());
    }
    if let Some(listed) = variable("COUNTERSIGN_TO") {
        return Ok(split(&listed));
    }
    if let Some(owner) = &session.owner {
        let people = retry_unavailable(None, async || {
            owner.get_field(&["v1", "admin", "people"], &[], "people").await
        })
        .await?;
        if let Some(actor) = owner_among(&typed::<Vec<ListedPerson>>(&people)?) {
            return Ok(vec![actor.to_owned()]);
        }
    }
    bail!("no resolver is named: add --to human:NAME, or set COUNTERSIGN_TO")
}

fn split(listed: &str) -> Vec<String> {
    listed
        .split(',')
        .map(str::trim)
        .filter(|name| !name.is_empty())
        .map(str::to_owned)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_in_the_environment_are_separated_by_commas() {
        assert_eq!(split("human:ann, human:bob,"), ["human:ann", "human:bob"]);
    }
}
