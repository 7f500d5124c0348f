//! GET /inbox/search: searches titles and texts of open items, decided items and notices, newest first.

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
use super::open::PAGE_SIZE;
use super::row::{ListKind, MessageRow, encoded, rows};
use crate::layout::filters;
use crate::layout::form::FormFields;
use crate::layout::page::{PageError, PageLayout, PageRequest, PageSection, render};
use crate::layout::signed_in_user::SignedInUser;

const MAX_QUERY_CHARS: usize = 200;

pub fn router() -> Router<Arc<Hub>> {
    Router::new().route("/inbox/search", get(search))
}

#[derive(Template)]
#[template(path = "search.html")]
struct SearchPage {
    layout: PageLayout,
    rows: Vec<MessageRow>,
    first: Option<String>,
    next: Option<String>,
}

async fn search(
    State(hub): State<Arc<Hub>>,
    user: SignedInUser,
    request: PageRequest,
    RawQuery(query): RawQuery,
) -> Result<Response, PageError> {
    let query = FormFields::parse(query.unwrap_or_default().as_bytes());
    let before = seq_of(&query)?;
    let text: String = query.text("q").trim().chars().take(MAX_QUERY_CHARS).collect();
    hub.background.indexer.wait_until_caught_up().await;
    let found = hub
        .store
        .run(Search {
            text: text.clone(),
            before,
            limit: PAGE_SIZE,
        })
        .await?;
    let now = hub.store.clock().now();
    let address = format!("/inbox/search?q={}", encoded(&text));
    let mut layout = PageLayout::of(&hub, &user, &request, PageSection::Search, "Search").await?;
    layout.query = text;
    let page = SearchPage {
        layout,
        rows: rows(&found.items, now, |item| {
            history::row(&hub, item, ListKind::Search, now, &user)
        }),
        first: before.map(|_| address.clone()),
        next: found.next.map(|seq| format!("{address}&before={seq}")),
    };
    Ok(render(StatusCode::OK, &page))
}
