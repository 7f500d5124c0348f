//! Secrets that agents name in callbacks: set, list, remove.

use std::sync::Arc;

use axum::Json;
use axum::body::Body;
use axum::extract::State;
use countersign_protocol::api::admin::{AgentSecret, SecretsList};
use countersign_store::model::SecretName;
use countersign_store::ops::admin::secrets::{ListSecrets, PutSecret, RemoveSecret};
use serde::Deserialize;

use super::{AgentFilter, no_agent};
use crate::Hub;
use crate::http::body::read_json;
use crate::http::callers::OwnerCaller;
use crate::http::extract::Params;
use crate::problem::Problem;

const MAX_NAME_BYTES: usize = 255;
const MAX_VALUE_BYTES: usize = 8192;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NewSecret {
    pub agent_id: String,
    pub name: String,
    pub value: String,
}

/// A secret is sent in a header, so it may only hold characters that are valid there.
fn check(secret: &NewSecret) -> Result<(), Problem> {
    let plain = |text: &str| text.bytes().all(|byte| (0x20..0x7f).contains(&byte));
    if secret.name.is_empty() || secret.name.len() > MAX_NAME_BYTES || !plain(&secret.name) {
        return Err(Problem::invalid("name", "use 1 to 255 plain ASCII characters"));
    }
    if secret.value.is_empty() || secret.value.len() > MAX_VALUE_BYTES || !plain(&secret.value) {
        return Err(Problem::invalid(
            "value",
            "use 1 to 8192 plain ASCII characters without line breaks",
        ));
    }
    Ok(())
}

pub async fn set_secret(hub: &Hub, secret: NewSecret, actor: String) -> Result<(), Problem> {
    check(&secret)?;
    let NewSecret { agent_id, name, value } = secret;
    if !hub
        .store
        .run(PutSecret {
            agent_id: agent_id.clone(),
            name,
            value,
            actor,
        })
        .await?
    {
        return Err(no_agent(&agent_id));
    }
    Ok(())
}

pub async fn set(State(hub): State<Arc<Hub>>, owner: OwnerCaller, body: Body) -> Result<Json<AgentSecret>, Problem> {
    let secret: NewSecret = read_json(body).await?;
    let reply = AgentSecret {
        agent_id: secret.agent_id.clone(),
        name: secret.name.clone(),
    };
    set_secret(&hub, secret, owner.actor).await?;
    Ok(Json(reply))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SecretRef {
    agent_id: String,
    name: String,
}

pub async fn remove(State(hub): State<Arc<Hub>>, owner: OwnerCaller, body: Body) -> Result<Json<AgentSecret>, Problem> {
    let SecretRef { agent_id, name } = read_json(body).await?;
    let removal = RemoveSecret {
        agent_id: agent_id.clone(),
        name: name.clone(),
        actor: owner.actor,
    };
    if !hub.store.run(removal).await? {
        return Err(Problem::NotFound {
            message: format!("agent {agent_id} has no secret {name}"),
        });
    }
    Ok(Json(AgentSecret { agent_id, name }))
}

pub async fn list(
    State(hub): State<Arc<Hub>>,
    _owner: OwnerCaller,
    Params(filter): Params<AgentFilter>,
) -> Result<Json<SecretsList<SecretName>>, Problem> {
    let agent_id = filter.agent_id;
    Ok(Json(SecretsList {
        secrets: hub.store.run(ListSecrets { agent_id }).await?,
    }))
}
