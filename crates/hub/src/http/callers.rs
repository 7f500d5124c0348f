//! The caller of a request, taken from its credential only.

use std::sync::Arc;

use axum::extract::FromRequestParts;
use axum::http::HeaderMap;
use axum::http::request::Parts;
use countersign_core::access::{Principal, Role};
use countersign_telemetry::request::set_account;

use crate::Hub;
use crate::problem::Problem;

const MAX_TOKEN_BYTES: usize = 512;

/// An agent or a person, but not a terminal.
pub struct AnyCaller(pub Principal);

pub struct AgentCaller {
    pub id: String,
    token: Box<str>,
}

impl AgentCaller {
    pub async fn recheck(&self, hub: &Hub) -> Result<(), Problem> {
        recheck(hub, &self.token).await
    }
}

pub struct PersonCaller {
    pub name: String,
    pub role: Role,
}

/// The terminals of one person. The request names the agent.
pub struct TerminalCaller {
    pub person: String,
    token: Box<str>,
}

impl TerminalCaller {
    pub async fn recheck(&self, hub: &Hub) -> Result<(), Problem> {
        recheck(hub, &self.token).await
    }

    /// The key for limits of these terminals. Agent ids cannot contain `#`.
    pub fn key(&self) -> String {
        format!("#{}", self.person)
    }
}

/// Whether the token of a long-lived connection is still valid. While the store is unavailable it counts as valid.
async fn recheck(hub: &Hub, token: &str) -> Result<(), Problem> {
    match hub.auth.credentials.authenticate(&hub.store, token).await {
        Ok(None) => Err(Problem::Unauthenticated),
        Ok(Some(_)) | Err(_) => Ok(()),
    }
}

/// An owner, with the actor name for the audit trail.
pub struct OwnerCaller {
    pub actor: String,
}

/// The bearer token or API key of a request.
pub fn token_from_headers(headers: &HeaderMap) -> Option<&str> {
    let text = |name| headers.get(name)?.to_str().ok();
    let credentials = text("authorization").and_then(|text| text.split_once(' '));
    let bearer = credentials.filter(|(scheme, _)| scheme.eq_ignore_ascii_case("bearer"));
    let token = bearer.map(|(_, token)| token.trim()).or_else(|| text("x-api-key"))?;
    (!token.is_empty() && token.len() <= MAX_TOKEN_BYTES).then_some(token)
}

async fn authenticate(headers: &HeaderMap, hub: &Hub) -> Result<Principal, Problem> {
    let token = token_from_headers(headers).ok_or(Problem::Unauthenticated)?;
    let found = hub.auth.credentials.authenticate(&hub.store, token).await?;
    match &found {
        Some(Principal::Agent { id }) => {
            set_account("agent", id);
            hub.background.agent_last_seen.record(id, hub.store.clock().now());
        }
        Some(Principal::Person { name, .. }) => set_account("human", name),
        Some(Principal::Terminal { person }) => set_account("terminal", person),
        None => {}
    }
    found.ok_or(Problem::Unauthenticated)
}

impl FromRequestParts<Arc<Hub>> for AnyCaller {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, hub: &Arc<Hub>) -> Result<Self, Problem> {
        match authenticate(&parts.headers, hub).await? {
            Principal::Terminal { .. } => Err(not_for_terminals()),
            principal @ (Principal::Agent { .. } | Principal::Person { .. }) => Ok(Self(principal)),
        }
    }
}

/// Agents can read a terminal's token, so it may ask and wait but not act as its person.
pub fn not_for_terminals() -> Problem {
    let message = "a terminal's token works under /v1/hap only; `countersign person token NAME` makes one for a person";
    Problem::NotAuthorized {
        message: message.to_owned(),
    }
}

impl FromRequestParts<Arc<Hub>> for TerminalCaller {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, hub: &Arc<Hub>) -> Result<Self, Problem> {
        match authenticate(&parts.headers, hub).await? {
            Principal::Terminal { person } => {
                let token = token_from_headers(&parts.headers).unwrap_or_default().into();
                Ok(Self { person, token })
            }
            Principal::Agent { .. } | Principal::Person { .. } => {
                let message =
                    "this call is for terminals; `countersign person token NAME --terminal` makes their token";
                Err(Problem::NotAuthorized {
                    message: message.to_owned(),
                })
            }
        }
    }
}

impl FromRequestParts<Arc<Hub>> for AgentCaller {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, hub: &Arc<Hub>) -> Result<Self, Problem> {
        match authenticate(&parts.headers, hub).await? {
            Principal::Agent { id } => Ok(Self {
                id,
                token: token_from_headers(&parts.headers).unwrap_or_default().into(),
            }),
            Principal::Person { .. } => Err(Problem::NotAuthorized {
                message: "this call is for agents; use an agent's token".to_owned(),
            }),
            Principal::Terminal { .. } => Err(not_for_terminals()),
        }
    }
}

impl FromRequestParts<Arc<Hub>> for PersonCaller {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, hub: &Arc<Hub>) -> Result<Self, Problem> {
        Self::from_headers(&parts.headers, parts.uri.path(), hub).await
    }
}

impl PersonCaller {
    pub async fn from_headers(headers: &HeaderMap, path: &str, hub: &Hub) -> Result<Self, Problem> {
        match authenticate(headers, hub).await? {
            Principal::Person { name, role } => Ok(Self { name, role }),
            Principal::Agent { .. } => Err(not_for_agents(path)),
            Principal::Terminal { .. } => Err(not_for_terminals()),
        }
    }
}

/// Later versions of the wire have an inbox of agents under the same path as the list of people here.
fn not_for_agents(path: &str) -> Problem {
    let message = if path.starts_with("/v1/inbox") {
        "this is the inbox of people, and this hub has none for agents; read an answer at the poll_url of its message"
    } else {
        "this call is for people; use a person's token"
    };
    Problem::NotAuthorized {
        message: message.to_owned(),
    }
}

impl From<PersonCaller> for Principal {
    fn from(person: PersonCaller) -> Self {
        Self::Person {
            name: person.name,
            role: person.role,
        }
    }
}

impl FromRequestParts<Arc<Hub>> for OwnerCaller {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, hub: &Arc<Hub>) -> Result<Self, Problem> {
        Self::from_headers(&parts.headers, hub).await
    }
}

impl OwnerCaller {
    pub async fn from_headers(headers: &HeaderMap, hub: &Hub) -> Result<Self, Problem> {
        let principal = authenticate(headers, hub).await?;
        if matches!(principal, Principal::Terminal { .. }) {
            return Err(not_for_terminals());
        }
        if principal.is_owner() {
            return Ok(Self {
                actor: principal.actor().to_string(),
            });
        }
        Err(Problem::NotAuthorized {
            message: "only an owner may administer the hub".to_owned(),
        })
    }
}
