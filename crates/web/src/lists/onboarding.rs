//! The first steps of a new person, on the inbox page. A step vanishes when it is done, or when the person hides it.

use std::sync::Arc;

use axum::Router;
use axum::extract::State;
use axum::response::Response;
use axum::routing::post;
use countersign_hub::Hub;
use countersign_hub::problem::Problem;
use countersign_store::ops::account::credential::{CredentialKind, ListCredentials};
use countersign_store::ops::account::passkey::Passkeys;
use countersign_store::ops::account::password::PasswordOf;
use countersign_store::ops::account::setting::{PutSetting, Setting};
use countersign_store::ops::admin::agents::ListAgents;
use countersign_store::ops::list::{Decided, ListFilter};
use countersign_store::ops::terminal::ListTerminals;

use crate::layout::form::PostedForm;
use crate::layout::page::{PageError, see_other};
use crate::layout::qr_code::QrCode;
use crate::layout::signed_in_user::SignedInUser;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FirstStep {
    TryIt,
    Connect,
    Phone,
    SignIn,
    Notifications,
}

impl FirstStep {
    const ALL: [Self; 5] = [
        Self::TryIt,
        Self::Connect,
        Self::Phone,
        Self::SignIn,
        Self::Notifications,
    ];

    pub fn as_str(self) -> &'static str {
        match self {
            Self::TryIt => "try",
            Self::Connect => "connect",
            Self::Phone => "phone",
            Self::SignIn => "signin",
            Self::Notifications => "notifications",
        }
    }
}

/// The agent of `countersign ask` on the hub's own machine.
const CLI_AGENT: &str = "cli";
/// The agents of `countersign demo` are below this.
const DEMO_AGENTS: &str = "demo/";
/// The word in the setting that hides all steps.
const ALL_STEPS: &str = "all";

/// The steps that are left.
pub struct Onboarding {
    pub steps: Vec<FirstStep>,
    /// The address for agents.
    pub agent_url: String,
    /// The address for browsers.
    pub browser_url: String,
    /// The address for browsers as a code, if other machines can reach it.
    pub code: Option<QrCode>,
}

pub fn router() -> Router<Arc<Hub>> {
    Router::new().route("/inbox/onboarding", post(hide))
}

fn setting_name(person: &str) -> String {
    format!("onboarding.{person}")
}

async fn hidden_steps(hub: &Hub, person: &str) -> Result<String, PageError> {
    let name = setting_name(person);
    Ok(hub.store.run(Setting { name }).await?.unwrap_or_default())
}

impl Onboarding {
    /// Returns `None` if nothing is left to do, or the person may not decide anything.
    pub async fn of(hub: &Hub, user: &SignedInUser, has_open_items: bool) -> Result<Option<Self>, PageError> {
        let hidden = hidden_steps(hub, &user.name).await?;
        if !user.may_decide() || hidden.split(' ').any(|step| step == ALL_STEPS) {
            return Ok(None);
        }
        let mut steps = Vec::new();
        for step in FirstStep::ALL {
            let is_hidden = hidden.split(' ').any(|hidden| hidden == step.as_str());
            if !is_hidden && !is_done(hub, user, step, has_open_items).await? {
                steps.push(step);
            }
        }
        let browser_url = hub.process.browser_url();
        Ok((!steps.is_empty()).then(|| Self {
            steps,
            code: (!is_local(hub)).then(|| QrCode::of(browser_url)).flatten(),
            agent_url: hub.agent_url().to_owned(),
            browser_url: browser_url.to_owned(),
        }))
    }
}

/// True if links with the hub's address work on its own machine only. A loopback address is `localhost` there.
pub fn is_local(hub: &Hub) -> bool {
    let url = url::Url::parse(hub.process.browser_url()).ok();
    url.as_ref().and_then(url::Url::host_str).unwrap_or("localhost") == "localhost"
}

async fn is_done(hub: &Hub, user: &SignedInUser, step: FirstStep, has_open_items: bool) -> Result<bool, PageError> {
    let person = user.name.clone();
    Ok(match step {
        FirstStep::TryIt => has_open_items || has_decided_items(hub).await?,
        FirstStep::Connect => has_connected_agent(hub).await?,
        FirstStep::Phone => {
            let sessions = ListCredentials {
                person,
                kind: CredentialKind::Session,
            };
            hub.store.run(sessions).await?.len() > 1
        }
        FirstStep::SignIn => {
            let has_password = hub.store.run(PasswordOf { person: person.clone() }).await?.is_some();
            has_password || !hub.store.run(Passkeys { person }).await?.is_empty()
        }
        // Only the browser knows it, and hides the step for this person (`assets/notify.js`).
        FirstStep::Notifications => false,
    })
}

/// An agent in a terminal, or one that has called, apart from those for a first try.
async fn has_connected_agent(hub: &Hub) -> Result<bool, PageError> {
    if !hub.store.run(ListTerminals { limit: 1 }).await?.is_empty() {
        return Ok(true);
    }
    let agents = hub.store.run(ListAgents).await?;
    let was_seen = |id: &str| hub.background.agent_last_seen.get(id).is_some();
    let is_own = |id: &str| id == CLI_AGENT || id.starts_with(DEMO_AGENTS);
    Ok(agents
        .iter()
        .filter(|agent| !is_own(&agent.agent_id))
        .any(|agent| agent.seen_at.is_some() || was_seen(&agent.agent_id)))
}

async fn has_decided_items(hub: &Hub) -> Result<bool, PageError> {
    let decided = Decided {
        filter: ListFilter::default(),
        status: None,
        before: None,
        limit: 1,
    };
    Ok(!hub.store.run(decided).await?.items.is_empty())
}

/// Hides one step, or all of them, for this person.
async fn hide(State(hub): State<Arc<Hub>>, posted: PostedForm) -> Result<Response, PageError> {
    let PostedForm { user, fields } = posted;
    let wanted = fields.text("step");
    let step = FirstStep::ALL.iter().map(|step| step.as_str()).chain([ALL_STEPS]);
    let Some(step) = step.into_iter().find(|step| *step == wanted) else {
        return Err(Problem::invalid("step", "choose one of the steps, or all").into());
    };
    let hidden = hidden_steps(&hub, &user.name).await?;
    if !hidden.split(' ').any(|hidden| hidden == step) {
        hub.store
            .run(PutSetting {
                name: setting_name(&user.name),
                value: format!("{hidden} {step}").trim().to_owned(),
                actor: user.actor().to_string(),
            })
            .await?;
    }
    Ok(see_other("/inbox"))
}
