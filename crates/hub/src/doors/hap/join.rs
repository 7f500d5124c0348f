//! POST /v1/hap/join

use std::sync::Arc;

use axum::Json;
use axum::body::Body;
use axum::extract::State;
use axum::http::StatusCode;
use countersign_core::hap::Terminal;
use countersign_protocol::hap::name;
use countersign_store::ops::terminal::{Join, Joined, TerminalOf, TooMany};
use uuid::Uuid;

use super::given::Given;
use super::message::{bounds, not_yours, too_many};
use crate::admin::no_randomness;
use crate::app::Hub;
use crate::auth::TerminalCaller;
use crate::body;
use crate::problem::Problem;

const MOST_BYTES: usize = 64 * 1024;
/// There are far more names than agents; so many taken ones in a row mean that something else is wrong.
const MOST_TRIES: usize = 100;

/// A name nobody had before; or, for an agent that brings one from elsewhere, that one.
pub async fn join(
    State(hub): State<Arc<Hub>>,
    caller: TerminalCaller,
    body: Body,
) -> Result<(StatusCode, Json<Terminal>), Problem> {
    hub.rate_limit.check_terminals(&caller).await?;
    let mut given = Given::parse(&body::read(body, MOST_BYTES).await?)?;
    let place = given.place()?;
    if given.has("agent_id") {
        let terminal = place.of(given.agent_id()?, None);
        return keep_name(&hub, caller.person, terminal).await;
    }
    let terminal = new_name(&hub, &caller.person, place.of(String::new(), None)).await?;
    Ok((StatusCode::CREATED, Json(terminal)))
}

async fn keep_name(hub: &Hub, person: String, terminal: Terminal) -> Result<(StatusCode, Json<Terminal>), Problem> {
    match take_name(hub, &person, &terminal).await? {
        Joined::New => return Ok((StatusCode::CREATED, Json(terminal))),
        Joined::TooMany => return Err(too_many(TooMany::Joined)),
        Joined::Taken => {}
    }
    match hub
        .store
        .run(TerminalOf {
            agent_id: terminal.agent_id,
        })
        .await?
    {
        Some(joined) if joined.person == person => Ok((StatusCode::OK, Json(joined.terminal))),
        Some(_) | None => Err(not_yours()),
    }
}

async fn take_name(hub: &Hub, person: &str, terminal: &Terminal) -> Result<Joined, Problem> {
    let max_joined = bounds(hub).joined;
    Ok(hub
        .store
        .run(Join {
            terminal: terminal.clone(),
            person: person.to_owned(),
            max_joined,
        })
        .await?)
}

async fn new_name(hub: &Hub, person: &str, mut terminal: Terminal) -> Result<Terminal, Problem> {
    for _ in 0..MOST_TRIES {
        let mut chance = [0; 16];
        getrandom::fill(&mut chance).map_err(no_randomness)?;
        let Some(agent_id) = name::agent_id(u128::from_le_bytes(chance)) else {
            continue;
        };
        terminal.agent_id = agent_id;
        match take_name(hub, person, &terminal).await? {
            Joined::New => return Ok(terminal),
            Joined::TooMany => return Err(too_many(TooMany::Joined)),
            Joined::Taken => {}
        }
    }
    let id = Uuid::new_v4();
    tracing::error!(%id, "no free name was found for an agent");
    Err(Problem::Unavailable { id })
}
