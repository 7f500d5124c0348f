//! The hub under test, and the rights available on it.

use std::collections::BTreeMap;

use anyhow::{Context, Result, bail};
use countersign_agent::Client as AgentClient;
use countersign_client::hub::{self, HubClient, HubLocation, typed};
use countersign_client::screen::escape;
use countersign_protocol::api::admin::IssuedCredentials;
use reqwest::Url;
use serde_json::json;

use super::cleanup::Cleanup;
use super::fresh_name;
use super::plan::{SmokePlan, Trusted, variable};
use super::subprocess::temporary_key;
use crate::args::{Globals, SignatureAlgArg};
use crate::commands::local_hub::{self, leads_to};
use crate::commands::skill::PushSettings;

pub struct HubAccess {
    /// The hub's location, without a token.
    pub location: HubLocation,
    /// Only if the hub under test is the one of the data directory.
    pub owner: Option<HubClient>,
}

pub struct SmokeAgent {
    pub id: String,
    pub token: String,
    /// What its pushes are signed with.
    pub signature_alg: SignatureAlgArg,
    /// The variables of the page that the environment does not hold.
    pub variables: Vec<(String, String)>,
}

impl HubAccess {
    pub async fn find(plan: &SmokePlan, globals: &Globals) -> Result<(Self, String)> {
        let local = local_hub::owner(globals)?;
        let hub_access = match (&plan.hub, local) {
            (None, None) => bail!("no hub is running here: start one with `countersign serve`, or set COUNTERSIGN_URL"),
            (None, Some(owner)) => Self {
                location: without_token(owner.location()),
                owner: Some(owner),
            },
            (Some(hub), local) => {
                let location = HubLocation::named(hub, String::new(), hub::AddressSource::Environment)?;
                let owner = match local {
                    Some(owner) if is_same(&location, &owner).await => Some(owner),
                    Some(_) | None => None,
                };
                may_have_tokens(&location, &plan.trusted, owner.is_some())?;
                Self { location, owner }
            }
        };
        let version = hub_access.hub("none")?.version().await?;
        let right = if hub_access.owner.is_some() {
            "with the owner's right"
        } else {
            "without the owner's right"
        };
        let text = format!(
            "{} speaks {} {version}; tested {right}",
            hub_access.location.shown_url(),
            version.family
        );
        Ok((hub_access, text))
    }

    pub fn hub(&self, token: &str) -> Result<AgentClient> {
        let http = self.location.http().build()?;
        Ok(
            AgentClient::with_client(self.location.url.clone(), token.to_owned(), http)
                .giving_up_after(super::STEP_TIMEOUT),
        )
    }

    /// A client with the agent's token.
    pub fn client(&self, agent: &SmokeAgent) -> Result<HubClient> {
        HubClient::new(HubLocation {
            token: agent.token.clone(),
            ..self.location.clone()
        })
    }

    /// The agent whose token is in the environment, else one created for this test and removed after it.
    pub async fn agent(&self, plan: &SmokePlan, cleanup: &mut Cleanup) -> Result<(SmokeAgent, String)> {
        let algs = match &self.owner {
            Some(owner) => local_hub::signature_algs(owner).await?,
            None => BTreeMap::new(),
        };
        let known = plan.agent.as_ref().and_then(|id| algs.get(id).copied());
        let signature_alg = known.unwrap_or_else(|| plan.signature_alg());
        let name = &plan.settings.token_env;
        match (variable(name), &self.owner) {
            (Some(token), _) => {
                let id = plan.agent.clone();
                let id = id.with_context(|| format!("{name} is set: name its agent with COUNTERSIGN_AGENT"))?;
                let text = format!("{id}, with the token in {name}");
                let agent = SmokeAgent {
                    id,
                    token,
                    signature_alg,
                    variables: Vec::new(),
                };
                Ok((agent, text))
            }
            (None, Some(owner)) => add_agent(plan, owner, signature_alg, cleanup).await,
            (None, None) => {
                let agent = plan.agent.as_deref().unwrap_or("the agent");
                bail!(
                    "{name} is not set: it must hold the token of {agent}, because this hub does not run on this machine"
                )
            }
        }
    }
}

/// An agent like the one of the page, with the same algorithm and secrets of the same names.
async fn add_agent(
    plan: &SmokePlan,
    owner: &HubClient,
    signature_alg: SignatureAlgArg,
    cleanup: &mut Cleanup,
) -> Result<(SmokeAgent, String)> {
    let id = fresh_name();
    let body = json!({ "id": id, "signature_alg": signature_alg.as_str() });
    let made = owner.post(&["v1", "admin", "agents"], &body).await?;
    cleanup.agent_added(owner, &id)?;
    let mut made: IssuedCredentials = typed(&made)?;
    if let Some(auth) = plan.settings.push().and_then(|push| push.auth.as_ref()) {
        let value = temporary_key();
        let secret = json!({ "agent_id": id, "name": auth.reference, "value": value });
        owner.post(&["v1", "admin", "secrets"], &secret).await?;
        if plan.settings.push().and_then(PushSettings::hmac_secret).is_some() {
            made.signing_key = value;
        }
    }
    let settings = &plan.settings;
    let stands_for = plan
        .agent
        .as_ref()
        .map(|agent| format!(" for {}, because {} is not set", escape(agent), settings.token_env));
    let text = format!("{id}, made for this test{}", stands_for.unwrap_or_default());
    let agent = SmokeAgent {
        id,
        token: made.token.clone(),
        signature_alg,
        variables: vec![
            (settings.token_env.clone(), made.token),
            (settings.signing_key_env.clone(), made.signing_key),
        ],
    };
    Ok((agent, text))
}

/// Whether the address is that of the local hub, by its own or its public URL.
async fn is_same(location: &HubLocation, owner: &HubClient) -> bool {
    let addresses = local_hub::addresses(owner).await;
    addresses.iter().any(|address| leads_to(&location.url, address))
}

fn without_token(location: &HubLocation) -> HubLocation {
    HubLocation {
        token: String::new(),
        ..location.clone()
    }
}

/// Checked before the first call: a skill written by another person could name a hub that only collects tokens.
fn may_have_tokens(hub: &HubLocation, trusted: &Trusted, is_local: bool) -> Result<()> {
    let same = |text: &String| Url::parse(text).is_ok_and(|url| leads_to(&url, &hub.url));
    let shown = hub.shown_url();
    if let Some(flag) = &trusted.flag {
        if same(flag) {
            return Ok(());
        }
        bail!("--hub is not the hub of the skill, which is {shown}; nothing was sent");
    }
    if is_local || trusted.environment.as_ref().is_some_and(same) {
        return Ok(());
    }
    bail!(
        "the skill names the hub {shown}, which is neither that of COUNTERSIGN_URL nor the one that runs on the data \
         directory; nothing was sent. Read the skill; if your tokens may go there, say so with --hub {shown}"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_skill_alone_does_not_decide_where_tokens_go() {
        let hub = HubLocation::named("https://hub.example", String::new(), hub::AddressSource::Environment).unwrap();
        let may = |flag: Option<&str>, environment: Option<&str>, is_local| {
            let trusted = Trusted {
                flag: flag.map(str::to_owned),
                environment: environment.map(str::to_owned),
            };
            may_have_tokens(&hub, &trusted, is_local)
        };
        assert!(may(None, None, true).is_ok());
        assert!(may(None, Some("https://hub.example/"), false).is_ok());
        assert!(may(Some("https://hub.example:443"), Some("https://mine.example"), false).is_ok());
        let text = may(None, Some("https://mine.example"), false).unwrap_err().to_string();
        assert!(
            text.contains("nothing was sent") && text.contains("--hub https://hub.example"),
            "{text}"
        );
        for flag in ["https://mine.example", "http://hub.example", "hub.example", ""] {
            assert!(may(Some(flag), Some("https://hub.example"), true).is_err(), "{flag}");
        }
    }
}
