//! What agents only want people to know. It is read and archived, never decided, and stands apart from what is.

use std::sync::Arc;

use askama::Template;
use axum::Router;
use axum::extract::{RawQuery, State};
use axum::http::StatusCode;
use axum::response::Response;
use axum::routing::{get, post};
use countersign_hub::Hub;
use countersign_hub::extract::MessagePath;
use countersign_hub::inbox::shelf;
use countersign_hub::problem::Problem;
use countersign_store::ops::list::Notices;

use super::open::PAGE;
use super::row::{Around, List, Row};
use crate::frame::filters;
use crate::frame::form::{Fields, Posted};
use crate::frame::page::{Asked, Failure, Here, Shell, back, render, see_other};
use crate::frame::signed_in::Visitor;

pub fn router() -> Router<Arc<Hub>> {
    Router::new()
        .route("/inbox/notices", get(notices))
        .route("/inbox/items/{id}/archive", post(archive))
}

#[derive(Template)]
#[template(path = "notices.html")]
struct NoticesPage {
    shell: Shell,
    rows: Vec<Row>,
    first: Option<String>,
    next: Option<String>,
}

async fn notices(
    State(hub): State<Arc<Hub>>,
    visitor: Visitor,
    asked: Asked,
    RawQuery(query): RawQuery,
) -> Result<Response, Failure> {
    let query = Fields::parse(query.unwrap_or_default().as_bytes());
    let before = seq_of(&query)?;
    let page = hub
        .store
        .run(Notices {
            person: Some(visitor.name.clone()),
            before,
            limit: PAGE,
        })
        .await?;
    let now = hub.store.clock().now();
    let row = |item| {
        let around = Around {
            csrf: visitor.csrf.clone(),
            back: asked.path.clone(),
        };
        Row {
            around,
            ..Row::seen_by(&hub, item, List::Notices, now, &visitor)
        }
    };
    let page = NoticesPage {
        shell: Shell::of(&hub, &visitor, &asked, Here::Notices, "Notices").await?,
        rows: page.items.iter().map(row).collect(),
        first: before.map(|_| "/inbox/notices".to_owned()),
        next: page.next.map(|seq| format!("/inbox/notices?before={seq}")),
    };
    Ok(render(StatusCode::OK, &page))
}

/// Where a list that goes backwards from a message goes on.
pub fn seq_of(query: &Fields) -> Result<Option<i64>, Problem> {
    let text = query.get("before").filter(|text| !text.is_empty());
    let refused = |_| Problem::validation("before", "before: begin again at the first page");
    text.map(|text| text.parse().map_err(refused)).transpose()
}

/// For the reader alone; others still see it.
async fn archive(
    State(hub): State<Arc<Hub>>,
    path: Result<MessagePath, Problem>,
    posted: Posted,
) -> Result<Response, Failure> {
    let MessagePath(id) = path?;
    shelf::archive(&hub, &posted.visitor.name, &id).await?;
    Ok(see_other(back(posted.fields.text("back"))))
}
