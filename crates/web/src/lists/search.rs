//! GET /inbox/search: open items, decided items and notices by words and filters, newest first.

use std::sync::Arc;

use askama::Template;
use axum::Router;
use axum::extract::{RawQuery, State};
use axum::http::StatusCode;
use axum::response::Response;
use axum::routing::get;
use countersign_hub::Hub;
use countersign_protocol::time::Timestamp;
use countersign_store::model::PersonView;
use countersign_store::ops::search::{Search, SearchOrder};

use super::history;
use super::notices::seq_of;
use super::open::PAGE_SIZE;
use super::query::{FilterHint, TypedSearch, total_text};
use super::row::{ListKind, MessageRow, encoded, rows};
use crate::language::t;
use crate::layout::filters;
use crate::layout::form::FormFields;
use crate::layout::page::{PageError, PageLayout, PageRequest, PageSection, render};
use crate::layout::signed_in_user::SignedInUser;
use crate::layout::zone::ReaderZone;

const ADDRESS: &str = "/inbox/search";

pub fn router() -> Router<Arc<Hub>> {
    Router::new().route(ADDRESS, get(search))
}

#[derive(Template)]
#[template(path = "search.html")]
struct SearchPage {
    layout: PageLayout,
    rows: Vec<MessageRow>,
    may_decide: bool,
    error: Option<String>,
    total: Option<String>,
    hints: Vec<FilterHint>,
    /// The days are those of UTC, because the reader's zone is not known.
    is_utc: bool,
    first: Option<String>,
    next: Option<String>,
}

async fn search(
    State(hub): State<Arc<Hub>>,
    user: SignedInUser,
    request: PageRequest,
    reader: ReaderZone,
    RawQuery(query): RawQuery,
) -> Result<Response, PageError> {
    let query = FormFields::parse(query.unwrap_or_default().as_bytes());
    let before = seq_of(&query)?;
    let typed = TypedSearch::of(query.text("q"), &reader.zone);
    hub.background.indexer.wait_until_caught_up().await;
    let found = hub
        .store
        .run(Search {
            query: typed.query.clone(),
            order: SearchOrder::Arrived,
            before: before.map(|seq| (Timestamp::from_millis(0), seq)),
            limit: usize::try_from(PAGE_SIZE).unwrap_or_default(),
            is_counted: true,
        })
        .await?;
    let now = hub.store.clock().now();
    let address = format!("{ADDRESS}?q={}", encoded(&typed.text));
    let mut layout = PageLayout::of(&hub, &user, &request, PageSection::Search, t("Search")).await?;
    let row = |item: &PersonView| MessageRow {
        marks: typed.marks(item),
        ..history::row(&hub, item, ListKind::Search, now, &user)
    };
    let rows = rows(&found.items, now, row);
    let hints = typed.hints(ADDRESS);
    layout.query = typed.text;
    let page = SearchPage {
        layout,
        rows,
        may_decide: user.may_decide(),
        error: typed.error,
        total: found.total.filter(|_| !typed.query.is_empty()).map(total_text),
        hints,
        is_utc: !reader.is_known,
        first: before.map(|_| address.clone()),
        next: found.next.map(|(_, seq)| format!("{address}&before={seq}")),
    };
    Ok(render(StatusCode::OK, &page))
}
