//! The page of one agent: its credentials, the approved callback hosts, and the secrets sent with its answers.

use std::sync::Arc;

use askama::Template;
use axum::extract::State;
use axum::response::Response;
use countersign_hub::Hub;
use countersign_hub::admin::agents::{remove_agent, rotate_agent};
use countersign_hub::admin::callbacks::{self, CallbackBinding};
use countersign_hub::admin::no_agent;
use countersign_hub::admin::secrets::NewSecret;
use countersign_hub::problem::Problem;
use countersign_store::model::AgentSummary;
use countersign_store::ops::admin::agents::ListAgents;
use countersign_store::ops::admin::callbacks::ListHosts;
use countersign_store::ops::admin::secrets::{ListSecrets, RemoveSecret};
use url::form_urlencoded::byte_serialize;

use super::agents::credentials_flash;
use super::flash::{DoneQuery, FlashMessage};
use crate::language::t;
use crate::layout::filters;
use crate::layout::form::OwnerForm;
use crate::layout::formatting::{DisplayTime, display_time};
use crate::layout::page::{PageError, PageLayout, PageRequest, PageSection, render, see_other};
use crate::layout::signed_in_user::{SignedInOwner, SignedInUser};

struct HostRow {
    host: String,
    is_approved: bool,
}

struct SecretRow {
    name: String,
    created_at: DisplayTime,
}

#[derive(Template)]
#[template(path = "settings_agent.html")]
struct AgentPage {
    layout: PageLayout,
    flash: FlashMessage,
    id: String,
    signature_alg: &'static str,
    open: i64,
    tokens: i64,
    created_at: DisplayTime,
    seen_at: Option<DisplayTime>,
    hosts: Vec<HostRow>,
    secrets: Vec<SecretRow>,
}

pub async fn page(
    State(hub): State<Arc<Hub>>,
    SignedInOwner(user): SignedInOwner,
    request: PageRequest,
    query: DoneQuery,
) -> Result<Response, PageError> {
    show(&hub, &user, &request, &query.id, FlashMessage::from_query(&query)).await
}

async fn find(hub: &Hub, id: &str) -> Result<AgentSummary, PageError> {
    let all = hub.store.run(ListAgents).await?;
    Ok(all
        .into_iter()
        .find(|agent| agent.agent_id == id)
        .ok_or_else(|| no_agent(id))?)
}

async fn show(
    hub: &Hub,
    user: &SignedInUser,
    request: &PageRequest,
    id: &str,
    flash: FlashMessage,
) -> Result<Response, PageError> {
    let agent = find(hub, id).await?;
    let of_agent = Some(id.to_owned());
    let hosts = hub
        .store
        .run(ListHosts {
            agent_id: of_agent.clone(),
        })
        .await?
        .into_iter()
        .map(|host| HostRow {
            is_approved: host.state == "approved",
            host: host.host,
        });
    let secrets = hub.store.run(ListSecrets { agent_id: of_agent }).await?.into_iter();
    let secrets = secrets.map(|secret| SecretRow {
        name: secret.name,
        created_at: display_time(secret.created_at),
    });
    let page = AgentPage {
        layout: PageLayout::of(hub, user, request, PageSection::Settings, agent.agent_id.clone()).await?,
        flash,
        signature_alg: agent.signature_alg.as_str(),
        open: agent.open,
        tokens: agent.tokens,
        created_at: display_time(agent.created_at),
        seen_at: hub
            .background
            .agent_last_seen
            .get(id)
            .or(agent.seen_at)
            .map(display_time),
        id: agent.agent_id,
        hosts: hosts.collect(),
        secrets: secrets.collect(),
    };
    Ok(render(page.flash.status(), &page))
}

/// Redirects to the agent's page, which then shows a flash message.
fn done(id: &str, code: &str) -> Response {
    let id: String = byte_serialize(id.as_bytes()).collect();
    see_other(&format!("/inbox/settings/agents/one?id={id}&done={code}"))
}

pub async fn rotate(
    State(hub): State<Arc<Hub>>,
    request: PageRequest,
    posted: OwnerForm,
) -> Result<Response, PageError> {
    let OwnerForm { user, fields } = posted;
    let id = fields.text("id");
    let rotated = async {
        let hours: u64 = fields.text("overlap_hours").parse().map_err(|_| {
            Problem::invalid(
                "overlap_hours",
                t("give the whole number of hours that the old credentials stay valid"),
            )
        })?;
        rotate_agent(&hub, id, Some(hours.saturating_mul(3600)), user.actor().to_string()).await
    };
    let flash = rotated
        .await
        .map_or_else(FlashMessage::from, |made| credentials_flash(&hub, &user, id, made));
    show(&hub, &user, &request, id, flash).await
}

pub async fn remove(State(hub): State<Arc<Hub>>, posted: OwnerForm) -> Result<Response, PageError> {
    remove_agent(&hub, posted.fields.text("id"), posted.user.actor().to_string()).await?;
    Ok(see_other("/inbox/settings/agents?done=agent"))
}

fn binding(posted: &OwnerForm) -> CallbackBinding {
    let text = |name| posted.fields.text(name).trim().to_owned();
    CallbackBinding {
        agent_id: text("id"),
        host: text("host"),
    }
}

pub async fn approve_host(
    State(hub): State<Arc<Hub>>,
    request: PageRequest,
    posted: OwnerForm,
) -> Result<Response, PageError> {
    let wanted = binding(&posted);
    let id = wanted.agent_id.clone();
    match callbacks::approve_host(&hub, wanted, posted.user.actor().to_string()).await {
        Ok(_) => Ok(done(&id, "host")),
        Err(problem) => show(&hub, &posted.user, &request, &id, problem.into()).await,
    }
}

pub async fn remove_host(
    State(hub): State<Arc<Hub>>,
    request: PageRequest,
    posted: OwnerForm,
) -> Result<Response, PageError> {
    let wanted = binding(&posted);
    let removed = callbacks::remove_host(&hub, &wanted, posted.user.actor().to_string()).await;
    match removed {
        Ok(_) => Ok(done(&wanted.agent_id, "host-removed")),
        Err(problem) => show(&hub, &posted.user, &request, &wanted.agent_id, problem.into()).await,
    }
}

pub async fn set_secret(
    State(hub): State<Arc<Hub>>,
    request: PageRequest,
    posted: OwnerForm,
) -> Result<Response, PageError> {
    let OwnerForm { user, fields } = posted;
    let id = fields.text("id").to_owned();
    let name = fields.text("name").trim().to_owned();
    let value = fields.text("value").to_owned();
    let secret = NewSecret {
        agent_id: id.clone(),
        name,
        value,
    };
    match countersign_hub::admin::secrets::set_secret(&hub, secret, user.actor().to_string()).await {
        Ok(()) => Ok(done(&id, "secret")),
        Err(problem) => show(&hub, &user, &request, &id, problem.into()).await,
    }
}

pub async fn remove_secret(State(hub): State<Arc<Hub>>, posted: OwnerForm) -> Result<Response, PageError> {
    let OwnerForm { user, fields } = posted;
    let agent_id = fields.text("id").to_owned();
    let name = fields.text("name").to_owned();
    let removal = RemoveSecret {
        agent_id: agent_id.clone(),
        name,
        actor: user.actor().to_string(),
    };
    if !hub.store.run(removal).await? {
        return Err(Problem::NotFound {
            message: t("this secret no longer exists").to_owned(),
        }
        .into());
    }
    Ok(done(&agent_id, "secret-removed"))
}
