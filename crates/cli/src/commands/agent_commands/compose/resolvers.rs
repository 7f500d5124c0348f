//! The default resolvers of a message.

use anyhow::{Result, bail};
use countersign_client::hub::typed;
use serde::Deserialize;

use crate::commands::agent_commands::credentials::session::AgentSession;
use crate::commands::agent_commands::retry::retry_unavailable;
use crate::commands::agent_commands::variable;

/// The name of the owner that a hub creates at its first start.
const FIRST_OWNER: &str = "owner";

#[derive(Deserialize)]
struct HubPerson {
    name: String,
    actor: String,
    role: String,
}

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
        if let Some(actor) = owner_among(&typed::<Vec<HubPerson>>(&people)?) {
            return Ok(vec![actor]);
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

/// The owner that the local `hub.json` token belongs to.
fn owner_among(people: &[HubPerson]) -> Option<String> {
    let owners = || people.iter().filter(|person| person.role == "owner");
    let first = owners().find(|person| person.name == FIRST_OWNER);
    first.or_else(|| owners().next()).map(|person| person.actor.clone())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn person(name: &str, role: &str) -> HubPerson {
        HubPerson {
            name: name.to_owned(),
            actor: format!("human:{name}"),
            role: role.to_owned(),
        }
    }

    #[test]
    fn the_first_owner_is_preferred_over_other_owners() {
        let mut people = vec![
            person("ann", "owner"),
            person("bob", "resolver"),
            person("owner", "owner"),
        ];
        assert_eq!(owner_among(&people).as_deref(), Some("human:owner"));
        people.pop();
        assert_eq!(owner_among(&people).as_deref(), Some("human:ann"));
        assert_eq!(owner_among(&people[1..]), None);
    }

    #[test]
    fn names_in_the_environment_are_separated_by_commas() {
        assert_eq!(split("human:ann, human:bob,"), ["human:ann", "human:bob"]);
    }
}
