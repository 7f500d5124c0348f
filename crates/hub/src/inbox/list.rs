//! GET /v1/inbox, /v1/inbox/{id} and /v1/messages

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use countersign_core::access::Principal;
use countersign_core::message::{Status, inbox_rank};
use countersign_store::model::{Cursor, Found, Item};
use countersign_store::ops::list::{History, Inbox};
use countersign_store::ops::pull::View;
use serde::Deserialize;
use serde_json::{Value, json};

use super::item::render;
use crate::app::Hub;
use crate::auth::{AnyCaller, PersonCaller};
use crate::extract::{MessagePath, Params};
use crate::problem::Problem;

const DEFAULT_PAGE: i64 = 50;
const LARGEST_PAGE: i64 = 200;

#[derive(Debug, Deserialize)]
pub struct PageQuery {
    limit: Option<String>,
    cursor: Option<String>,
    status: Option<String>,
}

impl PageQuery {
    fn limit(&self) -> Result<i64, Problem> {
        let Some(text) = &self.limit else { return Ok(DEFAULT_PAGE) };
        match text.parse() {
            Ok(limit) if (1..=LARGEST_PAGE).contains(&limit) => Ok(limit),
            _ => Err(Problem::validation("limit", format!("limit must be between 1 and {LARGEST_PAGE}"))),
        }
    }

    fn status(&self) -> Result<Option<String>, Problem> {
        let parsed = self.status.as_deref().map(|text| {
            text.parse::<Status>().map_err(|error| Problem::validation("status", format!("status: {error}")))
        });
        Ok(parsed.transpose()?.map(|status| status.as_str().to_owned()))
    }
}

fn bad_cursor() -> Problem {
    Problem::validation("cursor", "cursor must be the next_cursor of an earlier page")
}

fn parse_cursor(text: &str) -> Result<Cursor, Problem> {
    let (rank, seq) = text.split_once('.').ok_or_else(bad_cursor)?;
    let number = |text: &str| text.parse().map_err(|_| bad_cursor());
    Ok(Cursor { rank: number(rank)?, seq: number(seq)? })
}

/// Open asks and tasks, urgent first, then the longest waiting.
pub async fn list(
    State(hub): State<Arc<Hub>>,
    person: PersonCaller,
    Params(query): Params<PageQuery>,
) -> Result<Json<Value>, Problem> {
    let limit = query.limit()?;
    let after = query.cursor.as_deref().map(parse_cursor).transpose()?;
    let items = hub.store.run(Inbox { after, limit }).await?;
    let next = last_of_full_page(&items, limit).map(|item| {
        let rank = inbox_rank(item.message.content.priority);
        format!("{rank}.{}", item.seq)
    });
    let viewer = Principal::Person { name: person.name, role: person.role };
    Ok(Json(page("items", &items, &viewer, next)))
}

/// Newest first: an agent's own, or for a person everybody's.
pub async fn history(
    State(hub): State<Arc<Hub>>,
    AnyCaller(viewer): AnyCaller,
    Params(query): Params<PageQuery>,
) -> Result<Json<Value>, Problem> {
    let limit = query.limit()?;
    let status = query.status()?;
    let before = query.cursor.as_deref().map(str::parse::<i64>).transpose().map_err(|_| bad_cursor())?;
    let agent_id = match &viewer {
        Principal::Agent { id } => Some(id.clone()),
        Principal::Person { .. } => None,
    };
    let items = hub.store.run(History { agent_id, status, before, limit }).await?;
    let next = last_of_full_page(&items, limit).map(|item| item.seq.to_string());
    Ok(Json(page("messages", &items, &viewer, next)))
}

pub async fn show(
    State(hub): State<Arc<Hub>>,
    person: PersonCaller,
    MessagePath(id): MessagePath,
) -> Result<Json<Value>, Problem> {
    let viewer = Principal::Person { name: person.name, role: person.role };
    match hub.store.run(View(id)).await? {
        Some(Found::Live(item)) => Ok(Json(render(&item, &viewer))),
        Some(Found::Gone { .. }) => Err(Problem::Gone),
        None => Err(Problem::no_message()),
    }
}

fn last_of_full_page(items: &[Item], limit: i64) -> Option<&Item> {
    let is_full = i64::try_from(items.len()).is_ok_and(|count| count == limit);
    items.last().filter(|_| is_full)
}

fn page(name: &str, items: &[Item], viewer: &Principal, next: Option<String>) -> Value {
    let rendered: Vec<Value> = items.iter().map(|item| render(item, viewer)).collect();
    let mut page = json!({ name: rendered });
    if let Some(next) = next {
        page["next_cursor"] = next.into();
    }
    page
}
