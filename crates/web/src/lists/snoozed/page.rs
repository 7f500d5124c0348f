//! GET /inbox/aside: what the reader set aside, the soonest to come back first.

use std::sync::Arc;

use askama::Template;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use countersign_hub::Hub;
use countersign_store::model::AsideItem;
use countersign_store::ops::list::Aside;

use crate::frame::filters;
use crate::frame::format;
use crate::frame::page::{Asked, Failure, Here, Shell, render};
use crate::frame::signed_in::Visitor;
use crate::lists::row::{Around, List, Row};

/// Nobody sets aside more than this and still means it; the soonest are shown.
const MOST_SHOWN: i64 = 200;

#[derive(Template)]
#[template(path = "aside.html")]
struct AsidePage {
    shell: Shell,
    rows: Vec<Row>,
    returns_at: Option<i64>,
}

pub async fn aside(State(hub): State<Arc<Hub>>, visitor: Visitor, asked: Asked) -> Result<Response, Failure> {
    let found = hub
        .store
        .run(Aside {
            person: visitor.name.clone(),
            limit: MOST_SHOWN,
        })
        .await?;
    let now = hub.store.clock().now();
    let row = |AsideItem { item, until }: &AsideItem| Row {
        until: Some(format::instant(*until)),
        around: Around {
            csrf: visitor.csrf.clone(),
            back: asked.path.clone(),
        },
        ..Row::seen_by(&hub, item, List::Aside, now, &visitor)
    };
    let page = AsidePage {
        shell: Shell::of(&hub, &visitor, &asked, Here::Aside, "Set aside").await?,
        rows: found.iter().map(row).collect(),
        returns_at: found.first().map(|aside| aside.until.as_millis()),
    };
    Ok(render(StatusCode::OK, &page))
}
