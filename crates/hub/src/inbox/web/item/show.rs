//! GET /inbox/items/{id}

use std::sync::Arc;

use askama::Template;
use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use countersign_store::model::Found;
use countersign_store::ops::pull::View;

use super::page::{Occasion, page};
use crate::app::Hub;
use crate::extract::MessagePath;
use crate::inbox::web::filters;
use crate::inbox::web::page::{Asked, Failure, Here, Shell, render};
use crate::inbox::web::visitor::Visitor;
use crate::problem::Problem;

pub async fn show(
    State(hub): State<Arc<Hub>>,
    visitor: Visitor,
    asked: Asked,
    path: Result<MessagePath, Problem>,
) -> Result<Response, Failure> {
    let found = match path {
        Ok(MessagePath(id)) => hub.store.run(View(id)).await?,
        Err(_) => None,
    };
    match found {
        Some(Found::Live(item)) => page(&hub, &visitor, &asked, &item, Occasion::Look).await,
        Some(Found::Gone { .. }) => missing(&hub, &visitor, &asked, Missing::Gone).await,
        None => missing(&hub, &visitor, &asked, Missing::Never).await,
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Missing {
    Never,
    /// Emptied at the end of its retention.
    Gone,
}

#[derive(Template)]
#[template(path = "item_missing.html")]
struct MissingPage {
    shell: Shell,
    gone: bool,
}

pub async fn missing(hub: &Hub, visitor: &Visitor, asked: &Asked, which: Missing) -> Result<Response, Failure> {
    let (status, title) = match which {
        Missing::Never => (StatusCode::NOT_FOUND, "Nothing here"),
        Missing::Gone => (StatusCode::GONE, "No longer kept"),
    };
    let shell = Shell::of(hub, visitor, asked, Here::Item, title).await?;
    Ok(render(status, &MissingPage { shell, gone: which == Missing::Gone }))
}
