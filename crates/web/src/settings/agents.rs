//! The list of agents.

use std::sync::Arc;

use askama::Template;
use axum::extract::State;
use axum::response::Response;
use countersign_hub::Hub;
use countersign_hub::admin::agents::{AgentCredentials, add_agent};
use countersign_hub::problem::Problem;
use countersign_store::model::SignatureAlg;
use countersign_store::ops::admin::agents::ListAgents;
use countersign_store::ops::admin::callbacks::ListHosts;

use super::flash::{DoneQuery, FlashMessage, ReadyLine};
use crate::language::{say, t};
use crate::layout::filters;
use crate::layout::form::OwnerForm;
use crate::layout::formatting::{DisplayTime, display_time};
use crate::layout::page::{PageError, PageLayout, PageRequest, PageSection, render};
use crate::layout::signed_in_user::{SignedInOwner, SignedInUser};
use crate::lists::onboarding::is_local;

struct AgentListRow {
    id: String,
    open: i64,
    seen_at: Option<DisplayTime>,
    pending_hosts: usize,
}

#[derive(Template)]
#[template(path = "settings_agents.html")]
struct AgentsPage {
    layout: PageLayout,
    flash: FlashMessage,
    agents: Vec<AgentListRow>,
}

pub async fn page(
    State(hub): State<Arc<Hub>>,
    SignedInOwner(user): SignedInOwner,
    request: PageRequest,
    query: DoneQuery,
) -> Result<Response, PageError> {
    show(&hub, &user, &request, FlashMessage::from_query(&query)).await
}

async fn show(
    hub: &Hub,
    user: &SignedInUser,
    request: &PageRequest,
    flash: FlashMessage,
) -> Result<Response, PageError> {
    let hosts = hub.store.run(ListHosts { agent_id: None }).await?;
    let waiting = |id: &str| {
        hosts
            .iter()
            .filter(|host| host.agent_id == id && host.state == "pending")
            .count()
    };
    let mut agents = Vec::new();
    for agent in hub.store.run(ListAgents).await? {
        let seen_at = hub
            .background
            .agent_last_seen
            .get(&agent.agent_id)
            .or(agent.seen_at)
            .map(display_time);
        agents.push(AgentListRow {
            pending_hosts: waiting(&agent.agent_id),
            id: agent.agent_id,
            open: agent.open,
            seen_at,
        });
    }
    let layout = PageLayout::of(hub, user, request, PageSection::Settings, t("Agents")).await?;
    let page = AgentsPage { layout, flash, agents };
    Ok(render(page.flash.status(), &page))
}

/// New credentials, which are shown only once.
pub fn credentials_flash(hub: &Hub, user: &SignedInUser, id: &str, made: AgentCredentials) -> FlashMessage {
    let ready = ready_lines(hub.agent_url(), user.actor().as_str(), id, &made.token);
    let lines = vec![(t("Token"), made.token), (t("Signing key"), made.signing_key)];
    match made.old_valid_until {
        Some(until) => FlashMessage::secret_until(
            say!(
                "New credentials of {id}. Give the receiver of pushes both keys first: the first call with the new token retires the old key. The old token works until",
                id = id
            ),
            display_time(until),
            lines,
        ),
        None => FlashMessage::secret(say!("Credentials of {id}", id = id), lines),
    }
    .with_ready(ready)
    .warn_if(is_local(hub))
}

/// Ids and names are plain ASCII without quotes, so they need no escaping here.
fn ready_lines(url: &str, person: &str, id: &str, token: &str) -> Vec<ReadyLine> {
    let ask = format!(
        "curl -sS {url}/v1/messages -H 'Authorization: Bearer {token}' -H 'Content-Type: application/json' \\\n  \
         -d '{{\"a2h_version\":\"0.3\",\"type\":\"ask\",\"created_at\":\"'$(date -u +%Y-%m-%dT%H:%M:%SZ)'\",\
         \"agent\":{{\"id\":\"{id}\",\"run_id\":\"try\",\"runtime\":\"cli\"}},\"title\":\"Ship to production?\",\
         \"idempotency_key\":\"try-'$(date +%s)'\",\"request\":{{\"mode\":\"confirm\",\"allowed_resolvers\":[\"{person}\"]}}}}'"
    );
    vec![
        ReadyLine::new(
            t("Environment"),
            format!("export COUNTERSIGN_URL={url}\nexport COUNTERSIGN_AGENT={id}\nexport COUNTERSIGN_TOKEN={token}"),
        ),
        ReadyLine::new("curl", ask),
        ReadyLine::new(
            t("GitHub Actions secret"),
            format!("gh secret set COUNTERSIGN_TOKEN --body {token}"),
        ),
    ]
}

pub async fn add(State(hub): State<Arc<Hub>>, request: PageRequest, posted: OwnerForm) -> Result<Response, PageError> {
    let OwnerForm { user, fields } = posted;
    let id = fields.text("id").trim();
    let added = async {
        let alg = SignatureAlg::parse(fields.text("signature_alg"))
            .ok_or_else(|| Problem::invalid("signature_alg", t("choose hmac-sha256 or ed25519")))?;
        let reuse = fields.text("reuse") == id;
        add_agent(&hub, id, alg, reuse, user.actor().to_string()).await
    };
    let flash = match added.await {
        Ok(made) => credentials_flash(&hub, &user, id, made),
        Err(problem) => FlashMessage::refused_name(problem, id),
    };
    show(&hub, &user, &request, flash).await
}
