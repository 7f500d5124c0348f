//! Who may ask.

use std::sync::Arc;

use askama::Template;
use axum::extract::State;
use axum::response::Response;
use countersign_hub::Hub;
use countersign_hub::admin::agents::{Credentials, add_agent};
use countersign_hub::problem::Problem;
use countersign_store::model::SignatureAlg;
use countersign_store::ops::admin::agents::ListAgents;
use countersign_store::ops::admin::callbacks::ListHosts;

use super::flash::{DoneQuery, Word};
use crate::frame::filters;
use crate::frame::form::OwnerPosted;
use crate::frame::format::{Instant, instant};
use crate::frame::page::{Asked, Failure, Here, Shell, render};
use crate::frame::signed_in::{OwnerVisitor, Visitor};

struct AgentRow {
    id: String,
    open: i64,
    seen_at: Option<Instant>,
    pending_hosts: usize,
}

#[derive(Template)]
#[template(path = "settings_agents.html")]
struct AgentsPage {
    shell: Shell,
    word: Word,
    agents: Vec<AgentRow>,
}

pub async fn page(
    State(hub): State<Arc<Hub>>,
    OwnerVisitor(visitor): OwnerVisitor,
    asked: Asked,
    query: DoneQuery,
) -> Result<Response, Failure> {
    show(&hub, &visitor, &asked, Word::from_query(&query)).await
}

async fn show(hub: &Hub, visitor: &Visitor, asked: &Asked, word: Word) -> Result<Response, Failure> {
    let hosts = hub.store.run(ListHosts { agent_id: None }).await?;
    let waiting = |id: &str| {
        hosts
            .iter()
            .filter(|host| host.agent_id == id && host.state == "pending")
            .count()
    };
    let mut agents = Vec::new();
    for agent in hub.store.run(ListAgents).await? {
        let seen_at = hub.presence.seen(&agent.agent_id).or(agent.seen_at).map(instant);
        agents.push(AgentRow {
            pending_hosts: waiting(&agent.agent_id),
            id: agent.agent_id,
            open: agent.open,
            seen_at,
        });
    }
    let shell = Shell::of(hub, visitor, asked, Here::Settings, "Agents").await?;
    let page = AgentsPage { shell, word, agents };
    Ok(render(page.word.status(), &page))
}

/// Credentials as they are shown, once.
pub fn shown_once(id: &str, made: Credentials) -> Word {
    let lines = vec![("Token", made.token), ("Signing key", made.signing_key)];
    match made.old_valid_until {
        Some(until) => Word::once_until(
            format!("New credentials of {id}; the old ones work until"),
            instant(until),
            lines,
        ),
        None => Word::once(format!("Credentials of {id}"), lines),
    }
}

pub async fn add(State(hub): State<Arc<Hub>>, asked: Asked, posted: OwnerPosted) -> Result<Response, Failure> {
    let OwnerPosted { visitor, fields } = posted;
    let id = fields.text("id").trim();
    let added = async {
        let alg = SignatureAlg::parse(fields.text("signature_alg"))
            .ok_or_else(|| Problem::invalid("signature_alg", "choose hmac-sha256 or ed25519"))?;
        add_agent(&hub, id, alg, visitor.actor().to_string()).await
    };
    let word = added.await.map_or_else(Word::from, |made| shown_once(id, made));
    show(&hub, &visitor, &asked, word).await
}
