//! The hub under test, and the rights available on it.

use std::path::Path;

use anyhow::{Context, Result, bail};
use countersign_agent::Client as AgentClient;
use countersign_client::data_dir;
use countersign_client::hub::{self, HubClient, HubLocation, typed};
use countersign_client::screen::escape;
use reqwest::Url;
use serde::Deserialize;
use serde_json::{Value, json};

use super::cleanup::Cleanup;
use super::fresh_name;
use super::plan::{SmokePlan, Trusted, variable};
use crate::args::Globals;

const MAX_HUB_FILE_BYTES: usize = 64 * 1024;

pub struct HubAccess {
    /// The hub's location, without a token.
    pub location: HubLocation,
    /// Only if the hub under test is the one of the data directory.
    pub owner: Option<HubClient>,
}

pub struct SmokeAgent {
    pub id: String,
    pub token: String,
    /// Two during a rotation; none if unknown.
    pub signing_keys: Vec<String>,
}

#[derive(Deserialize)]
struct SmokeHubFile {
    url: String,
    token: String,
}

#[derive(Deserialize)]
struct SmokeCredentials {
    token: String,
    signing_key: String,
}

impl HubAccess {
    pub async fn find(plan: &SmokePlan, globals: &Globals) -> Result<(Self, String)> {
        let local = local_owner(globals)?;
        let hub_access = match (&plan.hub, local) {
            (None, None) => bail!("no hub is running here: start one with `countersign serve`, or set COUNTERSIGN_URL"),
            (None, Some(owner)) => Self {
                location: without_token(owner.location()),
                owner: Some(owner),
            },
            (Some(hub), local) => {
                let location = HubLocation::named(hub, String::new(), hub::AddressSource::Environment)?;
                let owner = match local {
                    Some(owner) if is_same(&location.url, &owner).await => Some(owner),
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
        let words = format!(
            "{} speaks {} {version}; tested {right}",
            hub_access.location.shown_url(),
            version.family
        );
        Ok((hub_access, words))
    }

    pub fn hub(&self, token: &str) -> Result<AgentClient> {
        let http = self.location.http().build()?;
        Ok(
            AgentClient::with_client(self.location.url.clone(), token.to_owned(), http)
                .giving_up_after(super::STEP_TIMEOUT),
        )
    }

    /// The agent whose token is in the environment, else one created for this test and removed after it.
    pub async fn agent(&self, plan: &SmokePlan, cleanup: &mut Cleanup) -> Result<(SmokeAgent, String)> {
        let name = &plan.token_env;
        match (variable(name), &self.owner) {
            (Some(token), _) => {
                let id = plan.agent.clone();
                let id = id.with_context(|| format!("{name} is set: name its agent with COUNTERSIGN_AGENT"))?;
                let keys = variable(&plan.signing_key_env).unwrap_or_default();
                let words = format!("{id}, with the token in {name}");
                let signing_keys = keys.split_whitespace().map(str::to_owned).collect();
                Ok((
                    SmokeAgent {
                        id,
                        token,
                        signing_keys,
                    },
                    words,
                ))
            }
            (None, Some(owner)) => self.add_agent(plan, owner, cleanup).await,
            (None, None) => {
                let agent = plan.agent.as_deref().unwrap_or("the agent");
                bail!(
                    "{name} is not set: it must hold the token of {agent}, because this hub does not run on this machine"
                )
            }
        }
    }

    async fn add_agent(
        &self,
        plan: &SmokePlan,
        owner: &HubClient,
        cleanup: &mut Cleanup,
    ) -> Result<(SmokeAgent, String)> {
        let id = fresh_name();
        let made = owner.post(&["v1", "admin", "agents"], &json!({ "id": id })).await?;
        cleanup.agent_added(owner, &id)?;
        let made: SmokeCredentials = typed(&made)?;
        let stands_for = plan
            .agent
            .as_ref()
            .map(|agent| format!(" for {}, because {} is not set", escape(agent), plan.token_env));
        let words = format!("{id}, made for this test{}", stands_for.unwrap_or_default());
        Ok((
            SmokeAgent {
                id,
                token: made.token,
                signing_keys: vec![made.signing_key],
            },
            words,
        ))
    }
}

fn without_token(location: &HubLocation) -> HubLocation {
    HubLocation {
        token: String::new(),
        ..location.clone()
    }
}

/// The hub of the data directory with the owner's token, regardless of the environment: the token of `hub.json` goes
/// only to the address in `hub.json`.
fn local_owner(globals: &Globals) -> Result<Option<HubClient>> {
    let Ok(data) = data_dir::resolve(globals.data.as_deref()) else {
        return Ok(None);
    };
    let Some(SmokeHubFile { url, token }) = hub_file(&data) else {
        return Ok(None);
    };
    HubClient::new(HubLocation::named(
        &url,
        token,
        hub::AddressSource::DataDirectory(data),
    )?)
    .map(Some)
}

fn hub_file(data: &Path) -> Option<SmokeHubFile> {
    let bytes = std::fs::read(data.join("hub.json")).ok()?;
    if bytes.len() > MAX_HUB_FILE_BYTES {
        None
    } else {
        serde_json::from_slice(&bytes).ok()
    }
}

/// Whether the address is that of the local hub, by its own or its public URL.
async fn is_same(url: &Url, owner: &HubClient) -> bool {
    if leads_to(url, &owner.location().url) {
        return true;
    }
    let Ok(status) = owner.get(&["v1", "admin", "status"], &[]).await else {
        return false;
    };
    let public = status
        .get("public_url")
        .and_then(Value::as_str)
        .and_then(|text| Url::parse(text).ok());
    public.is_some_and(|public| leads_to(url, &public))
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

fn leads_to(one: &Url, other: &Url) -> bool {
    let host = |url: &Url| match url.host_str() {
        Some("localhost" | "[::1]") => "127.0.0.1".to_owned(),
        host => host.unwrap_or_default().to_owned(),
    };
    let path = |url: &Url| url.path().trim_end_matches('/').to_owned();
    let key = |url: &Url| {
        (
            url.scheme().to_owned(),
            host(url),
            url.port_or_known_default(),
            path(url),
        )
    };
    key(one) == key(other)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_owners_token_stays_with_its_own_hub() {
        let same = |one: &str, other: &str| leads_to(&Url::parse(one).unwrap(), &Url::parse(other).unwrap());
        assert!(same("http://localhost:7422/", "http://127.0.0.1:7422"));
        assert!(same("https://hub.example:443/base", "https://hub.example/base/"));
        for other in [
            "http://127.0.0.1:7423",
            "https://127.0.0.1:7422",
            "http://hub.example:7422",
            "http://127.0.0.1:7422/x",
        ] {
            assert!(!same("http://127.0.0.1:7422", other), "{other}");
        }
    }

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
        let words = may(None, Some("https://mine.example"), false).unwrap_err().to_string();
        assert!(
            words.contains("nothing was sent") && words.contains("--hub https://hub.example"),
            "{words}"
        );
        for flag in ["https://mine.example", "http://hub.example", "hub.example", ""] {
            assert!(may(Some(flag), Some("https://hub.example"), true).is_err(), "{flag}");
        }
    }
}
