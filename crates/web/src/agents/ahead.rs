//! Type-ahead: texts that answer an agent's next cue. POST /inbox/terminals/ahead and …/ahead/drop, the addresses that
//! they have had from the start.

use std::sync::Arc;

use axum::extract::State;
use axum::response::Response;
use countersign_hub::Hub;
use countersign_hub::inbox::api::{queue_ahead, remove_ahead};
use countersign_store::ops::terminal::{Ahead, ListAhead};

use super::agent_href;
use super::page::{self, Refusal};
use crate::item::normalize_newlines;
use crate::layout::form::PostedForm;
use crate::layout::formatting::{DisplayTime, display_time};
use crate::layout::page::{PageError, PageRequest, back, see_other};
use crate::layout::signed_in_user::SignedInUser;

/// The type-ahead form of one agent, with its queued texts.
pub struct AheadBox {
    pub agent_id: String,
    pub waiting: Vec<AheadText>,
    /// The page to return to.
    pub back: String,
    /// The text that was refused; `error` has the reason.
    pub text: String,
    pub error: String,
}

pub struct AheadText {
    pub id: i64,
    pub text: String,
    pub at: DisplayTime,
    pub is_mine: bool,
}

impl AheadBox {
    /// Returns `None` unless the user is the person the agent asks: no other person may answer its cues.
    pub async fn of(hub: &Hub, user: &SignedInUser, agent_id: &str, person: &str) -> Result<Option<Self>, PageError> {
        if person != user.name || !user.may_decide() {
            return Ok(None);
        }
        let waiting = hub
            .store
            .run(ListAhead {
                agent_id: agent_id.to_owned(),
            })
            .await?;
        let shown = |ahead: Ahead| AheadText {
            id: ahead.id,
            is_mine: ahead.person == user.name,
            text: ahead.text,
            at: display_time(ahead.created_at),
        };
        Ok(Some(Self {
            agent_id: agent_id.to_owned(),
            waiting: waiting.into_iter().map(shown).collect(),
            back: agent_href(agent_id),
            text: String::new(),
            error: String::new(),
        }))
    }
}

pub async fn put(State(hub): State<Arc<Hub>>, request: PageRequest, posted: PostedForm) -> Result<Response, PageError> {
    let PostedForm { user, fields } = posted;
    let agent_id = fields.text("agent").to_owned();
    let text = normalize_newlines(fields.text("text"));
    match queue_ahead(&hub, user.principal(), agent_id.clone(), text.clone()).await {
        Ok(_) => Ok(see_other(back(fields.text("back")))),
        Err(problem) => page::refused(&hub, &user, &request, &agent_id, Refusal::QueuedText { text, problem }).await,
    }
}

pub async fn drop_text(
    State(hub): State<Arc<Hub>>,
    request: PageRequest,
    posted: PostedForm,
) -> Result<Response, PageError> {
    let PostedForm { user, fields } = posted;
    let agent_id = fields.text("agent").to_owned();
    // An invalid number becomes 0, which is never an id.
    let id = fields.text("id").parse().unwrap_or_default();
    match remove_ahead(&hub, user.actor(), agent_id.clone(), id).await {
        Ok(()) => Ok(see_other(back(fields.text("back")))),
        Err(problem) => {
            let text = String::new();
            page::refused(&hub, &user, &request, &agent_id, Refusal::QueuedText { text, problem }).await
        }
    }
}
