//! The person who answers, and a check that the skill's resolvers exist.

use anyhow::{Context, Result, bail};
use countersign_agent::Kind;
use countersign_client::hub::{ClientError, HubClient, HubLocation, typed};
use countersign_client::screen::{actor_label, escape};
use countersign_protocol::api::admin::ListedPerson;
use serde_json::Value;

use super::agent_half::SentMessage;
use super::hub_access::HubAccess;
use super::plan::{SmokePlan, variable};
use super::test_message;
use crate::commands::local_hub::owner_among;

/// The token of a person; COUNTERSIGN_TOKEN is the agent's.
pub const TOKEN: &str = "COUNTERSIGN_PERSON_TOKEN";

pub struct People {
    /// The people named in the message.
    pub resolvers: Vec<String>,
    client: HubClient,
    person: String,
}

pub async fn gather(plan: &SmokePlan, hub_access: &HubAccess) -> Result<(People, String)> {
    let known = match &hub_access.owner {
        Some(owner) => Some(typed::<Vec<ListedPerson>>(
            &owner.get_field(&["v1", "admin", "people"], &[], "people").await?,
        )?),
        None => None,
    };
    if let Some(known) = &known {
        check_known(&plan.settings.resolvers, known)?;
    }
    match (variable(TOKEN), &hub_access.owner, known) {
        (Some(token), _, _) => with_token(token, plan, hub_access),
        (None, Some(owner), Some(known)) => with_owner(owner, plan, &known),
        (None, _, _) => {
            bail!("{TOKEN} is not set: it must hold the token of a person who may answer, to answer as that person")
        }
    }
}

/// Refuses resolvers unknown to this hub: their asks could not be answered.
fn check_known(resolvers: &[String], known: &[ListedPerson]) -> Result<()> {
    let is_missing = |resolver: &&String| !known.iter().any(|person| person.actor == **resolver);
    let missing: Vec<&str> = resolvers.iter().filter(is_missing).map(String::as_str).collect();
    if !missing.is_empty() {
        bail!(
            "this hub does not know {}: add them with `countersign person add NAME`",
            missing.join(", ")
        );
    }
    Ok(())
}

fn with_token(token: String, plan: &SmokePlan, hub_access: &HubAccess) -> Result<(People, String)> {
    let resolvers = match (&plan.person, plan.settings.resolvers.is_empty()) {
        (_, false) => plan.settings.resolvers.clone(),
        (Some(person), true) => vec![person.clone()],
        (None, true) => bail!("name the person {TOKEN} belongs to: --to human:NAME"),
    };
    let person = plan.person.clone().unwrap_or_else(|| resolvers.join(" or "));
    let client = HubClient::new(HubLocation {
        token,
        ..hub_access.location.clone()
    })?;
    let text = format!("{person}, with the token in {TOKEN}");
    Ok((
        People {
            resolvers,
            client,
            person,
        },
        text,
    ))
}

/// The owner answers for the skill's resolvers, and is therefore added to them.
fn with_owner(owner: &HubClient, plan: &SmokePlan, known: &[ListedPerson]) -> Result<(People, String)> {
    let person = owner_among(known).context("this hub has no owner")?.to_owned();
    let mut resolvers = plan.settings.resolvers.clone();
    let mut text = format!("{person}, the owner of this hub");
    if !resolvers.contains(&person) {
        if !resolvers.is_empty() {
            text.push_str(&format!(", is named beside {} for this test", resolvers.join(", ")));
        }
        resolvers.push(person.clone());
    }
    let client = HubClient::new(owner.location().clone())?;
    Ok((
        People {
            resolvers,
            client,
            person,
        },
        text,
    ))
}

impl People {
    pub async fn resolve(&self, sent: &SentMessage, kind: Kind) -> Result<((), String)> {
        let resolution = test_message::resolution(kind, &sent.words);
        let reply = self
            .client
            .post(&["v1", "messages", &sent.id, "resolve"], &resolution)
            .await;
        let reply = reply.map_err(|error| self.explain(error))?;
        let status = reply.get("status").and_then(Value::as_str).unwrap_or_default();
        Ok(((), format!("{} by {}", escape(status), actor_label(&self.person))))
    }

    fn explain(&self, error: ClientError) -> anyhow::Error {
        let forbidden = error.is_forbidden();
        let error = anyhow::Error::from(error);
        if forbidden {
            error.context(format!("the token in use is not that of {}", self.person))
        } else {
            error
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commands::local_hub::tests::person;

    #[test]
    fn people_unknown_to_the_hub_are_named() {
        let known = [person("ann", "resolver"), person("owner", "owner")];
        assert!(check_known(&["human:ann".to_owned()], &known).is_ok());
        let error = check_known(&["human:ann".to_owned(), "human:zoe".to_owned()], &known)
            .unwrap_err()
            .to_string();
        assert!(error.contains("human:zoe") && !error.contains("human:ann"), "{error}");
    }
}
