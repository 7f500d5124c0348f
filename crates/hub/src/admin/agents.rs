//! Agents as owners manage them: add, list, rename, rotate credentials, remove.

use std::sync::Arc;
use std::time::Duration;

use axum::Json;
use axum::body::Body;
use axum::extract::State;
use axum::http::StatusCode;
use countersign_core::Actor;
use countersign_core::access::check_agent_id;
use countersign_core::agent_name::parse_given;
use countersign_protocol::api::admin::{AgentRef, AgentsList, IssuedCredentials, RenamedAgent};
use countersign_protocol::time::Timestamp;
use countersign_store::model::{AgentSummary, SignatureAlg};
use countersign_store::ops::account::credential::CredentialKind;
use countersign_store::ops::admin::AddOutcome;
use countersign_store::ops::admin::agents::{AddAgent, ListAgents, RemoveAgent, RotateAgent};
use countersign_store::ops::agent::{RenameAgent, RenameOutcome};
use countersign_store::ops::terminal::{TerminalOf, TerminalSummary};
use serde::Deserialize;

use super::no_agent;
use crate::Hub;
use crate::auth::{Token, new_signing_key};
use crate::http::body::read_json;
use crate::http::callers::OwnerCaller;
use crate::problem::{Problem, no_randomness};

/// How long old credentials stay valid after a rotation, by default.
pub const DEFAULT_OVERLAP_SECONDS: u64 = 24 * 3600;
const MAX_OVERLAP_SECONDS: u64 = 90 * 24 * 3600;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct NewAgent {
    id: String,
    signature_alg: Option<SignatureAlg>,
    #[serde(default)]
    reuse: bool,
}

/// An agent's credentials, shown once to the owner who made them.
pub struct AgentCredentials {
    pub token: String,
    pub signing_key: String,
    /// When the previous credentials expire.
    pub old_valid_until: Option<Timestamp>,
}

/// With `reuse` the id may be that of a removed agent.
pub async fn add_agent(
    hub: &Hub,
    id: &str,
    alg: SignatureAlg,
    reuse: bool,
    actor: String,
) -> Result<AgentCredentials, Problem> {
    check_agent_id(id).map_err(|error| Problem::invalid("id", error.to_string()))?;
    let token = Token::new(CredentialKind::Agent).map_err(no_randomness)?;
    let signing_key = new_signing_key().map_err(no_randomness)?;
    let added = hub.store.run(AddAgent {
        id: id.to_owned(),
        reuse,
        signature_alg: alg,
        token_hash: token.hash,
        signing_key: signing_key.clone(),
        actor,
    });
    match added.await? {
        AddOutcome::Added => Ok(AgentCredentials {
            token: token.text,
            signing_key,
            old_valid_until: None,
        }),
        AddOutcome::Exists => Err(already_exists(hub, id).await?),
        AddOutcome::UsedBefore => Err(Problem::NameUsed {
            message: format!(
                "{id} is the name of a removed agent; a new one would get its messages and their answers. Use another \
                 name, or, if that is meant, `countersign agent add {id} --reuse`"
            ),
        }),
    }
}

async fn already_exists(hub: &Hub, id: &str) -> Result<Problem, Problem> {
    let agent_id = id.to_owned();
    let message = match hub.store.run(TerminalOf { agent_id }).await? {
        Some(terminal) => format!(
            "{}; after `countersign agent remove {id}` an owner can give the name to another agent",
            describe_terminal_agent(&terminal)
        ),
        None => format!("agent {id} exists; `countersign agent rotate {id}` gives it new credentials"),
    };
    Ok(Problem::AlreadyExists { message })
}

pub async fn add(
    State(hub): State<Arc<Hub>>,
    owner: OwnerCaller,
    body: Body,
) -> Result<(StatusCode, Json<IssuedCredentials>), Problem> {
    let new: NewAgent = read_json(body).await?;
    let signature_alg = new.signature_alg.unwrap_or(SignatureAlg::HmacSha256);
    let made = add_agent(&hub, &new.id, signature_alg, new.reuse, owner.actor).await?;
    let body = IssuedCredentials {
        agent_id: new.id,
        token: made.token,
        signing_key: made.signing_key,
        signature_alg: Some(signature_alg.as_str().to_owned()),
        old_valid_until: None,
    };
    Ok((StatusCode::CREATED, Json(body)))
}

pub async fn list(State(hub): State<Arc<Hub>>, _owner: OwnerCaller) -> Result<Json<AgentsList<AgentSummary>>, Problem> {
    Ok(Json(AgentsList {
        agents: hub.store.run(ListAgents).await?,
    }))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct AgentRotation {
    id: String,
    overlap_seconds: Option<u64>,
}

/// Validates the overlap of a rotation.
pub fn overlap(seconds: Option<u64>) -> Result<Duration, Problem> {
    let seconds = seconds.unwrap_or(DEFAULT_OVERLAP_SECONDS);
    if seconds > MAX_OVERLAP_SECONDS {
        let message = format!("keep old credentials for at most {MAX_OVERLAP_SECONDS} seconds");
        return Err(Problem::invalid("overlap_seconds", message));
    }
    Ok(Duration::from_secs(seconds))
}

pub async fn rotate_agent(
    hub: &Hub,
    id: &str,
    overlap_seconds: Option<u64>,
    actor: String,
) -> Result<AgentCredentials, Problem> {
    let token = Token::new(CredentialKind::Agent).map_err(no_randomness)?;
    let signing_key = new_signing_key().map_err(no_randomness)?;
    let rotated = hub.auth.revoke(RotateAgent {
        id: id.to_owned(),
        token_hash: token.hash,
        signing_key: signing_key.clone(),
        overlap: overlap(overlap_seconds)?,
        actor,
    });
    let old_valid_until = match rotated.await? {
        Some(until) => Some(until),
        None => return Err(no_credentials_to_rotate(hub, id).await?),
    };
    Ok(AgentCredentials {
        token: token.text,
        signing_key,
        old_valid_until,
    })
}

async fn no_credentials_to_rotate(hub: &Hub, id: &str) -> Result<Problem, Problem> {
    Ok(
        match hub
            .store
            .run(TerminalOf {
                agent_id: id.to_owned(),
            })
            .await?
        {
            Some(terminal) => {
                let advice =
                    "it has no credentials of its own; `countersign person tokens NAME` lists its person's tokens";
                Problem::invalid("id", format!("{}; {advice}", describe_terminal_agent(&terminal)))
            }
            None => no_agent(id),
        },
    )
}

fn describe_terminal_agent(terminal: &TerminalSummary) -> String {
    let id = &terminal.terminal.agent_id;
    match terminal.person.as_str() {
        "" => format!("{id} is an agent in a terminal of a person who was removed"),
        person => format!("{id} is an agent in a terminal of {}", Actor::human(person)),
    }
}

pub async fn rotate(
    State(hub): State<Arc<Hub>>,
    owner: OwnerCaller,
    body: Body,
) -> Result<Json<IssuedCredentials>, Problem> {
    let rotation: AgentRotation = read_json(body).await?;
    let made = rotate_agent(&hub, &rotation.id, rotation.overlap_seconds, owner.actor).await?;
    Ok(Json(IssuedCredentials {
        agent_id: rotation.id,
        token: made.token,
        signing_key: made.signing_key,
        signature_alg: None,
        old_valid_until: made.old_valid_until.map(Into::into),
    }))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct NewName {
    id: String,
    name: Option<String>,
}

/// Gives the agent a name and returns its display name. A blank name restores the automatic one.
pub async fn rename_agent(hub: &Hub, id: String, name: &str, actor: String) -> Result<String, Problem> {
    let name = parse_given(name).map_err(|error| Problem::invalid("name", error.to_string()))?;
    let op = RenameAgent { id, name, actor };
    match hub.store.run(op.clone()).await? {
        RenameOutcome::Renamed(name) => Ok(name),
        RenameOutcome::NoSuchAgent => Err(no_agent(&op.id)),
        RenameOutcome::Taken => Err(Problem::AlreadyExists {
            message: "another agent has this name; use a name of its own".to_owned(),
        }),
    }
}

pub async fn rename(
    State(hub): State<Arc<Hub>>,
    owner: OwnerCaller,
    body: Body,
) -> Result<Json<RenamedAgent>, Problem> {
    let NewName { id, name } = read_json(body).await?;
    let name = rename_agent(&hub, id.clone(), &name.unwrap_or_default(), owner.actor).await?;
    Ok(Json(RenamedAgent { agent_id: id, name }))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Removal {
    id: String,
}

pub async fn remove_agent(hub: &Hub, id: &str, actor: String) -> Result<(), Problem> {
    if !hub
        .auth
        .revoke(RemoveAgent {
            id: id.to_owned(),
            actor,
        })
        .await?
    {
        return Err(no_agent(id));
    }
    Ok(())
}

pub async fn remove(State(hub): State<Arc<Hub>>, owner: OwnerCaller, body: Body) -> Result<Json<AgentRef>, Problem> {
    let removal: Removal = read_json(body).await?;
    remove_agent(&hub, &removal.id, owner.actor).await?;
    Ok(Json(AgentRef { agent_id: removal.id }))
}
