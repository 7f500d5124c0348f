//! POST /inbox/agents/{id}/name: gives an agent a name by hand.

use std::sync::Arc;

use axum::extract::State;
use axum::response::Response;
use countersign_hub::Hub;
use countersign_hub::admin::agents::rename_agent;
use countersign_hub::http::extract::AgentPath;
use countersign_hub::problem::Problem;
use countersign_store::ops::agent::{AgentOverview, AgentOverviewOf};

use super::agent_href;
use super::page::{self, Refusal, no_such_agent};
use crate::layout::form::PostedForm;
use crate::layout::page::{PageError, PageRequest, see_other};
use crate::layout::signed_in_user::SignedInUser;

/// Owners name every agent; other people name the agents in their own terminals.
pub fn may_rename(user: &SignedInUser, agent: &AgentOverview) -> bool {
    let is_own = agent
        .residence
        .as_ref()
        .is_some_and(|residence| residence.person == user.name);
    user.is_owner() || (is_own && user.may_decide())
}

pub async fn rename(
    State(hub): State<Arc<Hub>>,
    AgentPath(agent_id): AgentPath,
    request: PageRequest,
    posted: PostedForm,
) -> Result<Response, PageError> {
    let PostedForm { user, fields } = posted;
    let found = hub
        .store
        .run(AgentOverviewOf {
            agent_id: agent_id.clone(),
        })
        .await?;
    let agent = found.ok_or_else(no_such_agent)?;
    if !may_rename(&user, &agent) {
        let message = "only an owner or the agent's own person may rename it".to_owned();
        return Err(Problem::NotAuthorized { message }.into());
    }
    let name = fields.text("name").to_owned();
    match rename_agent(&hub, agent_id.clone(), &name, user.actor().to_string()).await {
        Ok(_) => Ok(see_other(&agent_href(&agent_id))),
        Err(problem) => page::refused(&hub, &user, &request, &agent_id, Refusal::Name { name, problem }).await,
    }
}
