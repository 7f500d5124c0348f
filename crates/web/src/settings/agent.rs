//! One agent: its credentials, where its answers may be pushed, and what they carry.

use std::sync::Arc;

use askama::Template;
use axum::extract::State;
use axum::response::Response;
use countersign_hub::Hub;
use countersign_hub::admin::agents::{remove_agent, rotate_agent};
use countersign_hub::admin::callbacks::{Binding, put};
use countersign_hub::admin::no_agent;
use countersign_hub::admin::secrets::NewSecret;
use countersign_hub::problem::Problem;
use countersign_store::model::AgentSummary;
use countersign_store::ops::admin::agents::ListAgents;
use countersign_store::ops::admin::callbacks::ListHosts;
use countersign_store::ops::admin::secrets::{ListSecrets, RemoveSecret};
use url::form_urlencoded::byte_serialize;

use super::agents::shown_once;
use super::flash::{DoneQuery, Word};
use crate::frame::filters;
use crate::frame::form::OwnerPosted;
use crate::frame::format::{Instant, instant};
use crate::frame::page::{Asked, Failure, Here, Shell, render, see_other};
use crate::frame::signed_in::{OwnerVisitor, Visitor};

struct HostRow {
    host: String,
    is_approved: bool,
}

struct SecretRow {
    name: String,
    created_at: Instant,
}

#[derive(Template)]
#[template(path = "settings_agent.html")]
struct AgentPage {
    shell: Shell,
    word: Word,
    id: String,
    signature_alg: &'static str,
    open: i64,
    tokens: i64,
    created_at: Instant,
    seen_at: Option<Instant>,
    hosts: Vec<HostRow>,
    secrets: Vec<SecretRow>,
}

pub async fn page(
    State(hub): State<Arc<Hub>>,
    OwnerVisitor(visitor): OwnerVisitor,
    asked: Asked,
    query: DoneQuery,
) -> Result<Response, Failure> {
    show(&hub, &visitor, &asked, &query.id, Word::from_query(&query)).await
}

async fn find(hub: &Hub, id: &str) -> Result<AgentSummary, Failure> {
    let all = hub.store.run(ListAgents).await?;
    Ok(all
        .into_iter()
        .find(|agent| agent.agent_id == id)
        .ok_or_else(|| no_agent(id))?)
}

async fn show(hub: &Hub, visitor: &Visitor, asked: &Asked, id: &str, word: Word) -> Result<Response, Failure> {
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
        created_at: instant(secret.created_at),
    });
    let page = AgentPage {
        shell: Shell::of(hub, visitor, asked, Here::Settings, agent.agent_id.clone()).await?,
        word,
        signature_alg: agent.signature_alg.as_str(),
        open: agent.open,
        tokens: agent.tokens,
        created_at: instant(agent.created_at),
        seen_at: hub.presence.seen(id).or(agent.seen_at).map(instant),
        id: agent.agent_id,
        hosts: hosts.collect(),
        secrets: secrets.collect(),
    };
    Ok(render(page.word.status(), &page))
}

/// Back to the agent's page, which then says what was done.
fn done(id: &str, code: &str) -> Response {
    let id: String = byte_serialize(id.as_bytes()).collect();
    see_other(&format!("/inbox/settings/agents/one?id={id}&done={code}"))
}

pub async fn rotate(State(hub): State<Arc<Hub>>, asked: Asked, posted: OwnerPosted) -> Result<Response, Failure> {
    let OwnerPosted { visitor, fields } = posted;
    let id = fields.text("id");
    let rotated = async {
        let hours: u64 = fields.text("overlap_hours").parse().map_err(|_| {
            Problem::invalid(
                "overlap_hours",
                "say for how many whole hours the old credentials stay valid",
            )
        })?;
        rotate_agent(&hub, id, Some(hours.saturating_mul(3600)), visitor.actor().to_string()).await
    };
    let word = rotated.await.map_or_else(Word::from, |made| shown_once(id, made));
    show(&hub, &visitor, &asked, id, word).await
}

pub async fn remove(State(hub): State<Arc<Hub>>, posted: OwnerPosted) -> Result<Response, Failure> {
    remove_agent(&hub, posted.fields.text("id"), posted.visitor.actor().to_string()).await?;
    Ok(see_other("/inbox/settings/agents?done=agent"))
}

fn binding(posted: &OwnerPosted) -> Binding {
    let text = |name| posted.fields.text(name).trim().to_owned();
    Binding {
        agent_id: text("id"),
        host: text("host"),
    }
}

pub async fn approve_host(State(hub): State<Arc<Hub>>, asked: Asked, posted: OwnerPosted) -> Result<Response, Failure> {
    let wanted = binding(&posted);
    let id = wanted.agent_id.clone();
    match put(&hub, wanted, true, posted.visitor.actor().to_string()).await {
        Ok(_) => Ok(done(&id, "host")),
        Err(problem) => show(&hub, &posted.visitor, &asked, &id, problem.into()).await,
    }
}

pub async fn remove_host(State(hub): State<Arc<Hub>>, asked: Asked, posted: OwnerPosted) -> Result<Response, Failure> {
    let wanted = binding(&posted);
    let removed =
        countersign_hub::admin::callbacks::remove_host(&hub, &wanted, posted.visitor.actor().to_string()).await;
    match removed {
        Ok(_) => Ok(done(&wanted.agent_id, "host-removed")),
        Err(problem) => show(&hub, &posted.visitor, &asked, &wanted.agent_id, problem.into()).await,
    }
}

pub async fn set_secret(State(hub): State<Arc<Hub>>, asked: Asked, posted: OwnerPosted) -> Result<Response, Failure> {
    let OwnerPosted { visitor, fields } = posted;
    let id = fields.text("id").to_owned();
    let name = fields.text("name").trim().to_owned();
    let value = fields.text("value").to_owned();
    let secret = NewSecret {
        agent_id: id.clone(),
        name,
        value,
    };
    match countersign_hub::admin::secrets::set_secret(&hub, secret, visitor.actor().to_string()).await {
        Ok(()) => Ok(done(&id, "secret")),
        Err(problem) => show(&hub, &visitor, &asked, &id, problem.into()).await,
    }
}

pub async fn remove_secret(State(hub): State<Arc<Hub>>, posted: OwnerPosted) -> Result<Response, Failure> {
    let OwnerPosted { visitor, fields } = posted;
    let agent_id = fields.text("id").to_owned();
    let name = fields.text("name").to_owned();
    let removal = RemoveSecret {
        agent_id: agent_id.clone(),
        name,
        actor: visitor.actor().to_string(),
    };
    if !hub.store.run(removal).await? {
        return Err(Problem::NotFound {
            message: "this secret is not there any more".to_owned(),
        }
        .into());
    }
    Ok(done(&agent_id, "secret-removed"))
}
