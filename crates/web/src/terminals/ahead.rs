//! Typing ahead: telling an agent something before it asks. POST /inbox/terminals/ahead and …/ahead/drop

use std::sync::Arc;

use axum::extract::State;
use axum::response::Response;
use countersign_hub::Hub;
use countersign_hub::inbox::api::{put_ahead, take_ahead_back};
use countersign_hub::problem::Problem;
use countersign_store::ops::terminal::{Ahead, ListAhead};

use super::page;
use crate::frame::form::Posted;
use crate::frame::format::{Instant, instant};
use crate::frame::page::{Asked, Failure, back, see_other};
use crate::frame::signed_in::Visitor;
use crate::item::lines;

/// Where one types ahead, and what waits already.
pub struct AheadBox {
    pub agent_id: String,
    /// Tells the boxes of a page apart.
    pub nth: usize,
    pub waiting: Vec<Waiting>,
    /// Where one goes on afterwards.
    pub back: String,
    /// What was not taken, and why.
    pub text: String,
    pub error: String,
}

pub struct Waiting {
    pub id: i64,
    pub text: String,
    pub at: Instant,
    pub is_mine: bool,
}

impl AheadBox {
    /// Only for the person the agent asks: nobody else's words could answer it.
    pub async fn of(hub: &Hub, visitor: &Visitor, agent_id: &str, person: &str) -> Result<Option<Self>, Failure> {
        if person != visitor.name || !visitor.may_decide() {
            return Ok(None);
        }
        let waiting = hub
            .store
            .run(ListAhead {
                agent_id: agent_id.to_owned(),
            })
            .await?;
        let shown = |ahead: Ahead| Waiting {
            id: ahead.id,
            is_mine: ahead.person == visitor.name,
            text: ahead.text,
            at: instant(ahead.created_at),
        };
        Ok(Some(Self {
            agent_id: agent_id.to_owned(),
            nth: 0,
            waiting: waiting.into_iter().map(shown).collect(),
            back: "/inbox/terminals".to_owned(),
            text: String::new(),
            error: String::new(),
        }))
    }
}

/// Something about the box of one agent.
pub struct Refused {
    pub agent_id: String,
    pub text: String,
    pub problem: Problem,
}

pub async fn put(State(hub): State<Arc<Hub>>, asked: Asked, posted: Posted) -> Result<Response, Failure> {
    let Posted { visitor, fields } = posted;
    let agent_id = fields.text("agent").to_owned();
    let text = lines(fields.text("text"));
    match put_ahead(&hub, visitor.principal(), agent_id.clone(), text.clone()).await {
        Ok(_) => Ok(see_other(back(fields.text("back")))),
        Err(problem) => {
            page::refused(
                &hub,
                &visitor,
                &asked,
                Refused {
                    agent_id,
                    text,
                    problem,
                },
            )
            .await
        }
    }
}

pub async fn take_back(State(hub): State<Arc<Hub>>, asked: Asked, posted: Posted) -> Result<Response, Failure> {
    let Posted { visitor, fields } = posted;
    let agent_id = fields.text("agent").to_owned();
    // What is no number is the number of nothing.
    let id = fields.text("id").parse().unwrap_or_default();
    match take_ahead_back(&hub, visitor.actor(), agent_id.clone(), id).await {
        Ok(()) => Ok(see_other(back(fields.text("back")))),
        Err(problem) => {
            let refused = Refused {
                agent_id,
                text: String::new(),
                problem,
            };
            page::refused(&hub, &visitor, &asked, refused).await
        }
    }
}
