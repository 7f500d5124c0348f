//! GET /inbox/items/{id}

use std::sync::Arc;

use askama::Template;
use axum::extract::State;
use axum::response::Response;
use countersign_hub::Hub;
use countersign_hub::http::extract::MessagePath;
use countersign_hub::inbox::find::find;
use countersign_hub::problem::Problem;

use super::page::{PanelState, page};
use crate::language::t;
use crate::layout::filters;
use crate::layout::page::{PageError, PageLayout, PageRequest, PageSection, render};
use crate::layout::signed_in_user::SignedInUser;

pub async fn show(
    State(hub): State<Arc<Hub>>,
    user: SignedInUser,
    request: PageRequest,
    path: Result<MessagePath, Problem>,
) -> Result<Response, PageError> {
    let found = match path {
        Ok(MessagePath(id)) => find(&hub, &id).await,
        Err(problem) => Err(problem),
    };
    match found {
        Ok(item) => page(&hub, &user, &request, &item, PanelState::View).await,
        Err(problem) => missing(&hub, &user, &request, problem).await,
    }
}

#[derive(Template)]
#[template(path = "item_missing.html")]
struct MissingItemPage {
    layout: PageLayout,
    gone: bool,
}

/// The page of an item that never existed, or was purged at the end of its retention. Other problems, such as a damaged
/// message, become errors.
pub async fn missing(
    hub: &Hub,
    user: &SignedInUser,
    request: &PageRequest,
    why: Problem,
) -> Result<Response, PageError> {
    let (title, gone) = match why {
        Problem::NotFound { .. } => (t("Nothing here"), false),
        Problem::Gone => (t("No longer kept"), true),
        other => return Err(other.into()),
    };
    let layout = PageLayout::of(hub, user, request, PageSection::Item, title).await?;
    Ok(render(why.status(), &MissingItemPage { layout, gone }))
}
