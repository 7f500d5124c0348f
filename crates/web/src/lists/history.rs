//! What was decided: who, when, how long it took, and whether the agent knows.

use std::sync::Arc;

use askama::Template;
use axum::Router;
use axum::extract::{RawQuery, State};
use axum::http::StatusCode;
use axum::response::Response;
use axum::routing::get;
use countersign_core::delivery::Track as Delivered;
use countersign_core::message::Status;
use countersign_core::{Actor, Outcome, Resolution, State as MessageState};
use countersign_hub::Hub;
use countersign_hub::inbox::asker::OfRun;
use countersign_hub::inbox::cursor::pair;
use countersign_hub::inbox::outcome;
use countersign_hub::problem::Problem;
use countersign_protocol::time::Timestamp;
use countersign_store::model::Item;
use countersign_store::ops::list::Decided;

use super::open::{Active, Narrow, Offered, PAGE};
use super::row::{Ending, List, Row, Track};
use crate::frame::filters;
use crate::frame::form::Fields;
use crate::frame::format;
use crate::frame::page::{Asked, Failure, Here, Shell, render};
use crate::frame::signed_in::Visitor;

const ADDRESS: &str = "/inbox/history";

pub fn router() -> Router<Arc<Hub>> {
    Router::new().route(ADDRESS, get(history))
}

#[derive(Template)]
#[template(path = "history.html")]
struct HistoryPage {
    shell: Shell,
    rows: Vec<Row>,
    narrow: Narrow,
    active: Vec<Active>,
    offered: Offered,
    first: Option<String>,
    next: Option<String>,
}

async fn history(
    State(hub): State<Arc<Hub>>,
    visitor: Visitor,
    asked: Asked,
    RawQuery(query): RawQuery,
) -> Result<Response, Failure> {
    let query = Fields::parse(query.unwrap_or_default().as_bytes());
    let narrow = Narrow::of(&query);
    let status = status_of(&narrow.status)?;
    let before = query
        .get("before")
        .filter(|text| !text.is_empty())
        .map(parse_place)
        .transpose()?;
    let page = hub
        .store
        .run(Decided {
            filter: narrow.filter(),
            status,
            before,
            limit: PAGE,
        })
        .await?;
    let now = hub.store.clock().now();
    let next = page
        .next
        .map(|(at, seq)| ("before", format!("{}.{seq}", at.as_millis())));
    let page = HistoryPage {
        shell: Shell::of(&hub, &visitor, &asked, Here::History, "History").await?,
        rows: page
            .items
            .iter()
            .map(|item| row(&hub, item, List::History, now, &visitor))
            .collect(),
        active: narrow.active(ADDRESS),
        offered: Offered::by(page.items.iter()),
        first: before.map(|_| narrow.address(ADDRESS, None, None)),
        next: next.map(|next| narrow.address(ADDRESS, None, Some(next))),
        narrow,
    };
    Ok(render(StatusCode::OK, &page))
}

fn status_of(text: &str) -> Result<Option<Status>, Problem> {
    let outcome = Outcome::ALL.into_iter().find(|outcome| outcome.as_str() == text);
    match outcome {
        Some(outcome) => Ok(Some(Status::Resolved(outcome))),
        None if text.is_empty() => Ok(None),
        None => Err(Problem::validation("status", "status: choose an outcome from the list")),
    }
}

fn parse_place(text: &str) -> Result<(Timestamp, i64), Problem> {
    let (at, seq) = pair(text).ok_or_else(|| Problem::validation("before", "before: begin again at the first page"))?;
    Ok((Timestamp::from_millis(at), seq))
}

/// A row that tells what became of its message.
pub fn row(hub: &Hub, item: &Item, list: List, now: Timestamp, visitor: &Visitor) -> Row {
    let ending = match &item.message.state {
        MessageState::Resolved(resolution) => Some(ending(item, resolution)),
        MessageState::Open | MessageState::Delivered => None,
    };
    Row {
        ending,
        ..Row::seen_by(hub, item, list, now, visitor)
    }
}

fn ending(item: &Item, resolution: &Resolution) -> Ending {
    let message = &item.message;
    Ending {
        words: outcome::in_words(resolution, &message.content),
        actor: resolution.actor.to_string(),
        at: format::instant(resolution.resolved_at),
        took: format::span(resolution.resolved_at.since(message.received_at)),
        track: track(item, resolution),
    }
}

/// An agent that decided itself, or cancelled, knows already; so does a run, which is the hub's own.
fn track(item: &Item, resolution: &Resolution) -> Option<Track> {
    let is_of_run = OfRun::of(&item.message.source).is_some();
    if is_of_run || resolution.actor == Actor::agent(&item.message.content.agent.id) {
        return None;
    }
    let (words, mood) = match (&item.delivery, item.fetched_at) {
        (_, Some(_)) => ("fetched by the agent", "good"),
        (None, None) => ("waiting for the agent", ""),
        (Some(delivery), None) => match (delivery.track, delivery.attempts) {
            (Delivered::Delivered, _) => ("delivered", "good"),
            (Delivered::Failed, _) => ("not delivered", "bad"),
            (Delivered::Pending, 0) => ("on its way", ""),
            (Delivered::Pending, _) => ("delivery failing, will try again", "warn"),
        },
    };
    Some(Track { words, mood })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn empty(next: Option<&str>) -> String {
        let page = HistoryPage {
            shell: Shell::anonymous(&Asked::default(), Here::History, "History"),
            rows: Vec::new(),
            narrow: Narrow::of(&Fields::parse(b"tag=rare")),
            active: Vec::new(),
            offered: Offered::default(),
            first: None,
            next: next.map(str::to_owned),
        };
        page.render().expect("a page")
    }

    #[test]
    fn a_page_that_stopped_looking_says_that_the_next_one_goes_on() {
        let over = empty(None);
        let further = empty(Some("/inbox/history?tag=rare&before=1.1"));
        assert!(
            over.contains("Nothing decided fits these filters") && !over.contains("looks further"),
            "{over}"
        );
        assert!(
            !further.contains("fits these filters") && further.contains("The next page looks further"),
            "{further}"
        );
    }
}
