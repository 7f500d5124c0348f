//! GET /runs: the latest to start first.

use std::sync::Arc;

use askama::Template;
use axum::extract::{RawQuery, State as Given};
use axum::http::StatusCode;
use axum::response::Response;
use countersign_hub::Hub;
use countersign_hub::inbox::asker::run_href;
use countersign_hub::inbox::cursor::pair;
use countersign_hub::inbox::runs::{Asking, Listed, runs};
use countersign_hub::problem::Problem;
use countersign_protocol::runs::RunStatus;
use countersign_protocol::time::Timestamp;
use countersign_store::ops::run::RunPlace;

use super::state::{KINDS, State};
use crate::frame::filters;
use crate::frame::form::Fields;
use crate::frame::format::{Instant, instant, span, waited};
use crate::frame::page::{Asked, Failure, Here, Shell, render};
use crate::frame::signed_in::Visitor;

const PAGE: i64 = 30;
/// Of what one run asks at once.
const MOST_ASKS: usize = 3;

#[derive(Template)]
#[template(path = "runs.html")]
struct RunsPage {
    shell: Shell,
    kinds: Vec<Kind>,
    rows: Vec<Row>,
    is_narrowed: bool,
    first: Option<String>,
    next: Option<String>,
}

struct Kind {
    words: &'static str,
    href: String,
    is_shown: bool,
}

struct Row {
    id: String,
    href: String,
    strategy: String,
    cwd: String,
    state: State,
    /// Differs whenever the row does.
    rev: String,
    started: Instant,
    /// How long it took; of one that goes on, how long so far.
    took: String,
    is_over: bool,
    is_begun: bool,
    asks: Vec<Ask>,
    more_asks: usize,
}

struct Ask {
    href: String,
    agent_name: String,
    prompt: String,
    since: Instant,
    waited: String,
}

pub async fn list(
    Given(hub): Given<Arc<Hub>>,
    visitor: Visitor,
    asked: Asked,
    RawQuery(query): RawQuery,
) -> Result<Response, Failure> {
    let query = Fields::parse(query.unwrap_or_default().as_bytes());
    let word = query.text("status");
    let cursor = query.get("cursor").filter(|text| !text.is_empty());
    let asking = Asking {
        status: status(word)?,
        cwd: None,
        before: cursor.map(place).transpose()?,
        limit: PAGE,
    };
    let is_narrowed = asking.status.is_some();
    let (found, next) = runs(&hub, asking).await?;
    let now = hub.store.clock().now();
    let page = RunsPage {
        shell: Shell::of(&hub, &visitor, &asked, Here::Runs, "Runs").await?,
        kinds: KINDS
            .map(|(kind, words)| Kind {
                words,
                href: address(kind, None),
                is_shown: kind == word,
            })
            .into(),
        rows: found.into_iter().map(|run| row(run, now)).collect(),
        is_narrowed,
        first: cursor.map(|_| address(word, None)),
        next: next.map(|place| address(word, Some(place))),
    };
    Ok(render(StatusCode::OK, &page))
}

fn status(word: &str) -> Result<Option<RunStatus>, Problem> {
    match RunStatus::parse(word) {
        Some(status) => Ok(Some(status)),
        None if word.is_empty() => Ok(None),
        None => Err(Problem::validation("status", "status: choose one above the list")),
    }
}

fn place(text: &str) -> Result<RunPlace, Problem> {
    let (at, seq) = pair(text).ok_or_else(|| Problem::validation("cursor", "cursor: begin again at the first page"))?;
    Ok(RunPlace {
        started_at: Timestamp::from_millis(at),
        seq,
    })
}

fn address(status: &str, from: Option<RunPlace>) -> String {
    let status = Some(status)
        .filter(|status| !status.is_empty())
        .map(|status| format!("status={status}"));
    let from = from.map(|place| format!("cursor={}.{}", place.started_at.as_millis(), place.seq));
    let query: Vec<String> = status.into_iter().chain(from).collect();
    if query.is_empty() {
        "/runs".to_owned()
    } else {
        format!("/runs?{}", query.join("&"))
    }
}

fn row(run: Listed, now: Timestamp) -> Row {
    let state = State::of(&run);
    let asks: Vec<Ask> = run.waiting.iter().take(MOST_ASKS).map(|wait| ask(wait, now)).collect();
    let ids: Vec<&str> = run.waiting.iter().map(|wait| wait.message_id.as_str()).collect();
    Row {
        href: run_href(&run.run_id),
        rev: format!("{} {} {}", run.segment, run.status.as_str(), ids.join(" ")),
        started: instant(run.started_at),
        took: match run.completed_at {
            Some(at) => span(at.since(run.started_at)),
            None => waited(run.started_at, now),
        },
        is_over: run.status.is_over(),
        is_begun: run.status != RunStatus::Pending,
        more_asks: run.waiting.len() - asks.len(),
        asks,
        state,
        id: run.run_id,
        strategy: run.strategy_name,
        cwd: run.cwd,
    }
}

fn ask(wait: &countersign_hub::runs::Wait, now: Timestamp) -> Ask {
    let prompt = wait.prompt.as_deref().and_then(countersign_core::excerpt::title);
    Ask {
        href: format!("/inbox/items/{}", wait.message_id),
        prompt: prompt.unwrap_or_else(|| "an input".to_owned()),
        agent_name: wait.agent_name.clone(),
        since: instant(wait.since),
        waited: waited(wait.since, now),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_in_the_list_is_part_of_its_address() {
        let from = RunPlace {
            started_at: Timestamp::from_millis(1_780_000_000_000),
            seq: 7,
        };
        assert_eq!(address("", None), "/runs");
        assert_eq!(
            address("error", Some(from)),
            "/runs?status=error&cursor=1780000000000.7"
        );
        assert_eq!(place("1780000000000.7").unwrap(), from);
        assert!(place("7").is_err() && status("waiting").is_err() && status("").unwrap().is_none());
    }
}
