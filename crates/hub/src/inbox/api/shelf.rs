//! What the caller put away: GET /v1/inbox/aside, POST /v1/inbox/{id}/aside, /archive and /return. It is the caller's own
//! affair: the message stays as it is, and everybody else sees it as before.

use std::sync::Arc;
use std::time::Duration;

use axum::Json;
use axum::body::Body;
use axum::extract::State;
use countersign_core::message::State as MessageState;
use countersign_core::{Matter, Rejection};
use countersign_protocol::id::MessageId;
use countersign_protocol::time::Timestamp;
use countersign_store::ops::list::Aside;
use countersign_store::ops::shelf::{PutAway, TakeBack};
use serde::Deserialize;
use serde_json::{Value, json};

use super::one::find;
use super::query::LARGEST_PAGE;
use crate::app::Hub;
use crate::auth::PersonCaller;
use crate::body::read_json;
use crate::extract::MessagePath;
use crate::inbox::item::render;
use crate::problem::Problem;

const LONGEST: Duration = Duration::from_secs(90 * 24 * 3600);

/// Open and set aside by the caller, the soonest to come back first.
pub async fn aside(State(hub): State<Arc<Hub>>, person: PersonCaller) -> Result<Json<Value>, Problem> {
    let found = hub.store.run(Aside { person: person.name.clone(), limit: LARGEST_PAGE }).await?;
    let viewer = person.into();
    let items = found.iter().map(|aside| {
        let mut shown = render(&aside.item, &viewer);
        shown["until"] = json!(aside.until);
        shown
    });
    Ok(Json(json!({ "items": items.collect::<Vec<_>>() })))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Until {
    until: String,
}

impl Until {
    fn instant(&self, now: Timestamp) -> Result<Timestamp, Problem> {
        let until = Timestamp::parse_rfc3339(&self.until)
            .ok_or_else(|| Problem::invalid("until", "must be an RFC 3339 date-time"))?;
        if until <= now || until > now.plus(LONGEST) {
            return Err(Problem::invalid("until", "must lie in the future, at most 90 days from now"));
        }
        Ok(until)
    }
}

pub async fn put_aside(
    State(hub): State<Arc<Hub>>,
    person: PersonCaller,
    MessagePath(id): MessagePath,
    body: Body,
) -> Result<Json<Value>, Problem> {
    let until = read_json::<Until>(body).await?.instant(hub.store.clock().now())?;
    check_open(&hub, &id).await?;
    if hub.store.run(PutAway { person: person.name, id: id.clone(), until: Some(until) }).await? {
        return Ok(Json(json!({ "id": id })));
    }
    // Somebody answered it in between.
    check_open(&hub, &id).await?;
    Err(Problem::no_message())
}

async fn check_open(hub: &Hub, id: &MessageId) -> Result<(), Problem> {
    match find(hub, id).await?.message.state {
        MessageState::Open => Ok(()),
        MessageState::Resolved(resolution) => Err(Rejection::already(id, &resolution).into()),
        MessageState::Delivered => Err(Problem::invalid("id", "a notify is archived, not set aside")),
    }
}

pub async fn archive(
    State(hub): State<Arc<Hub>>,
    person: PersonCaller,
    MessagePath(id): MessagePath,
) -> Result<Json<Value>, Problem> {
    match find(&hub, &id).await?.message.content.matter {
        Matter::Notify => {}
        Matter::Ask(_) | Matter::Task(_) => {
            return Err(Problem::invalid("id", "only a notify is archived; answer this one, or set it aside"));
        }
    }
    let is_there = hub.store.run(PutAway { person: person.name, id: id.clone(), until: None }).await?;
    if is_there { Ok(Json(json!({ "id": id }))) } else { Err(Problem::no_message()) }
}

/// Taking back what was not put away changes nothing.
pub async fn take_back(
    State(hub): State<Arc<Hub>>,
    person: PersonCaller,
    MessagePath(id): MessagePath,
) -> Result<Json<Value>, Problem> {
    find(&hub, &id).await?;
    hub.store.run(TakeBack { person: person.name, id: id.clone() }).await?;
    Ok(Json(json!({ "id": id })))
}
