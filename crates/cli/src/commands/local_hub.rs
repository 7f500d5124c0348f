//! The hub of the data directory, reached with the owner's token of its `hub.json`.

use std::collections::BTreeMap;

use anyhow::Result;
use countersign_client::address::read_hub_file;
use countersign_client::data_dir;
use countersign_client::hub::{AddressSource, ClientError, HubClient, HubLocation, typed};
use countersign_protocol::api::HubFile;
use countersign_protocol::api::admin::{ListedAgent, ListedPerson};
use reqwest::Url;
use serde_json::Value;

use crate::args::{Globals, SignatureAlgArg};

/// The name of the owner that a hub creates at its first start.
const FIRST_OWNER: &str = "owner";

/// The hub of the data directory with the owner's token, regardless of the environment: the token of `hub.json` goes
/// only to the address in `hub.json`, and only while the hub that wrote it is alive.
pub fn owner(globals: &Globals) -> Result<Option<HubClient>> {
    let Ok(data) = data_dir::resolve(globals.data.as_deref()) else {
        return Ok(None);
    };
    let Ok(HubFile { url, token, .. }) = read_hub_file(&data) else {
        return Ok(None);
    };
    let location = HubLocation::named(&url, token, AddressSource::DataDirectory(data))?;
    HubClient::new(location).map(Some)
}

/// The addresses of the hub: the one it listens on, and its public one.
pub async fn addresses(owner: &HubClient) -> Vec<Url> {
    let status = owner.get(&["v1", "admin", "status"], &[]).await.unwrap_or_default();
    let public = status.get("public_url").and_then(Value::as_str);
    let public = public.and_then(|text| Url::parse(text).ok());
    std::iter::once(owner.location().url.clone()).chain(public).collect()
}

/// What pushes to an agent are signed with, for every agent of the hub.
pub async fn signature_algs(owner: &HubClient) -> Result<BTreeMap<String, SignatureAlgArg>, ClientError> {
    let agents = owner.get_field(&["v1", "admin", "agents"], &[], "agents").await?;
    let agents: Vec<ListedAgent> = typed(&agents)?;
    let alg = |agent: ListedAgent| Some((agent.agent_id, SignatureAlgArg::parse(&agent.signature_alg)?));
    Ok(agents.into_iter().filter_map(alg).collect())
}

/// The owner that the token of `hub.json` belongs to.
pub fn owner_among(people: &[ListedPerson]) -> Option<&str> {
    let owners = || people.iter().filter(|person| person.role == "owner");
    let first = owners().find(|person| person.name == FIRST_OWNER);
    first.or_else(|| owners().next()).map(|person| person.actor.as_str())
}

/// The agents that a running hub of the data directory knows; none without such a hub.
#[derive(Default)]
pub struct KnownAgents {
    addresses: Vec<Url>,
    algs: BTreeMap<String, SignatureAlgArg>,
}

impl KnownAgents {
    pub async fn read(globals: &Globals) -> Self {
        let Ok(Some(owner)) = owner(globals) else {
            return Self::default();
        };
        match signature_algs(&owner).await {
            Ok(algs) => Self {
                addresses: addresses(&owner).await,
                algs,
            },
            Err(_) => Self::default(),
        }
    }

    #[cfg(test)]
    pub fn of(hub: &str, algs: &[(&str, SignatureAlgArg)]) -> Self {
        Self {
            addresses: vec![Url::parse(hub).unwrap()],
            algs: algs.iter().map(|(id, alg)| ((*id).to_owned(), *alg)).collect(),
        }
    }

    /// The address the hub listens on.
    pub fn address(&self) -> Option<&str> {
        self.addresses.first().map(|url| url.as_str().trim_end_matches('/'))
    }

    /// Whether the hub at `hub` is this one, and does not have the agent.
    pub fn lacks(&self, hub: &str, agent_id: &str) -> bool {
        let is_here = Url::parse(hub).is_ok_and(|hub| self.addresses.iter().any(|address| leads_to(&hub, address)));
        is_here && !self.algs.contains_key(agent_id)
    }

    pub fn signature_alg(&self, hub: &str, agent_id: &str) -> Option<SignatureAlgArg> {
        let hub = Url::parse(hub).ok()?;
        let is_here = self.addresses.iter().any(|address| leads_to(&hub, address));
        self.algs.get(agent_id).copied().filter(|_| is_here)
    }
}

/// Whether two addresses are the same hub; the names of this machine count as one.
pub fn leads_to(one: &Url, other: &Url) -> bool {
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
pub mod tests {
    use super::*;

    pub fn person(name: &str, role: &str) -> ListedPerson {
        ListedPerson {
            name: name.to_owned(),
            actor: format!("human:{name}"),
            role: role.to_owned(),
            created_at: String::new().into(),
            tokens: 1,
            sessions: 0,
            passkeys: 0,
            has_password: false,
        }
    }

    #[test]
    fn the_first_owner_is_preferred_over_other_owners() {
        let mut people = vec![
            person("ann", "owner"),
            person("bob", "resolver"),
            person("owner", "owner"),
        ];
        assert_eq!(owner_among(&people), Some("human:owner"));
        people.pop();
        assert_eq!(owner_among(&people), Some("human:ann"));
        assert_eq!(owner_among(&people[1..]), None);
    }

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
}
