//! Search over titles and texts: what waits, what was decided and what was only told, newest first.

use std::sync::Arc;

use askama::Template;
use axum::Router;
use axum::extract::{RawQuery, State};
use axum::http::StatusCode;
use axum::response::Response;
use axum::routing::get;
use countersign_hub::Hub;
use countersign_store::ops::search::Search;

use super::history;
use super::notices::seq_of;
use super::open::PAGE;
use super::row::{List, Row, encoded};
use crate::frame::filters;
use crate::frame::form::Fields;
use crate::frame::page::{Asked, Failure, Here, Shell, render};
use crate::frame::signed_in::Visitor;

const LONGEST_QUERY: usize = 200;

pub fn router() -> Router<Arc<Hub>> {
    Router::new().route("/inbox/search", get(search))
}

#[derive(Template)]
#[template(path = "search.html")]
struct SearchPage {
    shell: Shell,
    rows: Vec<Row>,
    first: Option<String>,
    next: Option<String>,
}

async fn search(
    State(hub): State<Arc<Hub>>,
    visitor: Visitor,
    asked: Asked,
    RawQuery(query): RawQuery,
) -> Result<Response, Failure> {
    let query = Fields::parse(query.unwrap_or_default().as_bytes());
    let before = seq_of(&query)?;
    let text: String = query.text("q").trim().chars().take(LONGEST_QUERY).collect();
    hub.indexer.caught_up().await;
    let found = hub
        .store
        .run(Search {
            text: text.clone(),
            before,
            limit: PAGE,
        })
        .await?;
    let now = hub.store.clock().now();
    let address = format!("/inbox/search?q={}", encoded(&text));
    let mut shell = Shell::of(&hub, &visitor, &asked, Here::Search, "Search").await?;
    shell.query = text;
    let page = SearchPage {
        shell,
        rows: found
            .items
            .iter()
            .map(|item| history::row(&hub, item, List::Search, now, &visitor))
            .collect(),
        first: before.map(|_| address.clone()),
        next: found.next.map(|seq| format!("{address}&before={seq}")),
    };
    Ok(render(StatusCode::OK, &page))
}
