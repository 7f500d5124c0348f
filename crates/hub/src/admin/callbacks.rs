//! Callback hosts of agents: register, approve, list, remove.

use std::sync::Arc;

use axum::Json;
use axum::body::Body;
use axum::extract::State;
use axum::http::StatusCode;
use countersign_core::Actor;
use countersign_protocol::api::admin::{CallbacksList, ListedCallback};
use countersign_store::model::CallbackHost;
use countersign_store::ops::admin::callbacks::{HostRefusal, ListHosts, MAX_PENDING_HOSTS, PutHost, RemoveHost};
use serde::Deserialize;

use super::{AgentFilter, no_agent};
use crate::Hub;
use crate::delivery::normalise_binding;
use crate::http::body::read_json;
use crate::http::callers::{AgentCaller, OwnerCaller};
use crate::http::extract::Params;
use crate::problem::Problem;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CallbackBinding {
    pub agent_id: String,
    pub host: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct OwnBinding {
    host: String,
}

/// Registers a host, which waits for approval.
async fn register_host(hub: &Hub, binding: CallbackBinding, actor: String) -> Result<CallbackHost, Problem> {
    let host = PutHost {
        host: normalised_host(&binding)?,
        agent_id: binding.agent_id,
        approve: false,
        actor,
    };
    put_host(hub, host).await
}

/// Approves a host, and registers it if it is new.
pub async fn approve_host(hub: &Hub, binding: CallbackBinding, actor: String) -> Result<CallbackHost, Problem> {
    let host = PutHost {
        host: normalised_host(&binding)?,
        agent_id: binding.agent_id,
        approve: true,
        actor,
    };
    put_host(hub, host).await
}

fn normalised_host(binding: &CallbackBinding) -> Result<String, Problem> {
    normalise_binding(&binding.host).map_err(|reason| Problem::invalid("host", reason))
}

async fn put_host(hub: &Hub, host: PutHost) -> Result<CallbackHost, Problem> {
    let agent_id = host.agent_id.clone();
    hub.store.run(host).await?.map_err(|refusal| match refusal {
        HostRefusal::NoAgent => no_agent(&agent_id),
        HostRefusal::TooManyPending => Problem::invalid(
            "host",
            format!(
                "{MAX_PENDING_HOSTS} hosts of {agent_id} already wait for approval; an owner approves or removes one first \
                 (`countersign agent callback list`)"
            ),
        ),
    })
}

/// Registers a host for the calling agent; an owner still has to approve it.
pub async fn register(
    State(hub): State<Arc<Hub>>,
    agent: AgentCaller,
    body: Body,
) -> Result<(StatusCode, Json<CallbackHost>), Problem> {
    hub.auth.request_limiter.check(&agent.id).await?;
    let own: OwnBinding = read_json(body).await?;
    let actor = Actor::agent(&agent.id).to_string();
    let binding = CallbackBinding {
        agent_id: agent.id,
        host: own.host,
    };
    Ok((StatusCode::CREATED, Json(register_host(&hub, binding, actor).await?)))
}

pub async fn add(
    State(hub): State<Arc<Hub>>,
    owner: OwnerCaller,
    body: Body,
) -> Result<(StatusCode, Json<CallbackHost>), Problem> {
    let binding = read_json(body).await?;
    Ok((
        StatusCode::CREATED,
        Json(register_host(&hub, binding, owner.actor).await?),
    ))
}

pub async fn approve(
    State(hub): State<Arc<Hub>>,
    owner: OwnerCaller,
    body: Body,
) -> Result<Json<CallbackHost>, Problem> {
    let binding = read_json(body).await?;
    Ok(Json(approve_host(&hub, binding, owner.actor).await?))
}

/// Returns the host in normalised form.
pub async fn remove_host(hub: &Hub, binding: &CallbackBinding, actor: String) -> Result<String, Problem> {
    let host = normalised_host(binding)?;
    let removal = RemoveHost {
        agent_id: binding.agent_id.clone(),
        host: host.clone(),
        actor,
    };
    if !hub.store.run(removal).await? {
        return Err(Problem::NotFound {
            message: format!("{host} is not registered for agent {}", binding.agent_id),
        });
    }
    Ok(host)
}

pub async fn remove(
    State(hub): State<Arc<Hub>>,
    owner: OwnerCaller,
    body: Body,
) -> Result<Json<ListedCallback>, Problem> {
    let binding: CallbackBinding = read_json(body).await?;
    let host = remove_host(&hub, &binding, owner.actor).await?;
    Ok(Json(ListedCallback {
        agent_id: binding.agent_id,
        host,
        state: None,
        created_at: None,
    }))
}

pub async fn list(
    State(hub): State<Arc<Hub>>,
    _owner: OwnerCaller,
    Params(filter): Params<AgentFilter>,
) -> Result<Json<CallbacksList<CallbackHost>>, Problem> {
    let agent_id = filter.agent_id;
    Ok(Json(CallbacksList {
        callbacks: hub.store.run(ListHosts { agent_id }).await?,
    }))
}
