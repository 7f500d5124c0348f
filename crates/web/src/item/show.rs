//! GET /inbox/items/{id}

use std::sync::Arc;

use askama::Template;
use axum::extract::State;
use axum::response::Response;
use countersign_hub::Hub;
use countersign_hub::extract::MessagePath;
use countersign_hub::inbox::find::find;
use countersign_hub::problem::Problem;

use super::page::{Occasion, page};
use crate::frame::filters;
use crate::frame::page::{Asked, Failure, Here, Shell, render};
use crate::frame::signed_in::Visitor;

pub async fn show(
    State(hub): State<Arc<Hub>>,
    visitor: Visitor,
    asked: Asked,
    path: Result<MessagePath, Problem>,
) -> Result<Response, Failure> {
    let found = match path {
        Ok(MessagePath(id)) => find(&hub, &id).await,
        Err(problem) => Err(problem),
    };
    match found {
        Ok(item) => page(&hub, &visitor, &asked, &item, Occasion::Look).await,
        Err(problem) => missing(&hub, &visitor, &asked, problem).await,
    }
}

#[derive(Template)]
#[template(path = "item_missing.html")]
struct MissingPage {
    shell: Shell,
    gone: bool,
}

/// Of an item that never was, or was emptied at the end of its retention. Any other reason has a page of its own.
pub async fn missing(hub: &Hub, visitor: &Visitor, asked: &Asked, why: Problem) -> Result<Response, Failure> {
    let (title, gone) = match why {
        Problem::NotFound { .. } => ("Nothing here", false),
        Problem::Gone => ("No longer kept", true),
        other => return Err(other.into()),
    };
    let shell = Shell::of(hub, visitor, asked, Here::Item, title).await?;
    Ok(render(why.status(), &MissingPage { shell, gone }))
}
