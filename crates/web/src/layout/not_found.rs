//! Unknown addresses and methods. People get a page or a redirect, programs get an API error.

use std::sync::Arc;

use axum::Router;
use axum::http::{HeaderMap, Method, Uri, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use countersign_core::asker::run_href;
use countersign_hub::Hub;
use countersign_hub::problem::Problem;

use super::page::{PageError, see_other};
use crate::assets;

pub async fn no_such_address(uri: Uri, headers: HeaderMap) -> Response {
    if is_for_people(uri.path()) || wants_page(&headers) {
        return PageError::from(Problem::NotFound {
            message: "This page does not exist.".to_owned(),
        })
        .into_response();
    }
    Problem::no_address().into_response()
}

/// A GET of a form's target, for example after a reload, is redirected to the page with the form.
pub async fn no_such_method(method: Method, uri: Uri) -> Response {
    let is_look = method == Method::GET || method == Method::HEAD;
    match is_for_people(uri.path()) {
        true if is_look => see_other(&page_above(uri.path())),
        true => PageError::from(Problem::MethodNotAllowed).into_response(),
        false => Problem::MethodNotAllowed.into_response(),
    }
}

/// A browser names HTML itself; programs accept anything or JSON.
fn wants_page(headers: &HeaderMap) -> bool {
    let accept = headers.get(header::ACCEPT).and_then(|value| value.to_str().ok());
    accept.is_some_and(|accept| accept.contains("text/html"))
}

/// Addresses that people try, and the pages they mean.
pub fn redirects() -> Router<Arc<Hub>> {
    Router::new()
        .route("/settings", get(async || see_other("/inbox/settings")))
        .route("/login", get(async || see_other("/signin")))
        .route(
            "/favicon.ico",
            get(async || see_other(&format!("{}/icon.svg", assets::base()))),
        )
}

fn is_for_people(path: &str) -> bool {
    let first = path.split('/').nth(1).unwrap_or_default();
    matches!(first, "inbox" | "runs" | "signin" | "signout")
}

/// The page whose forms send to this address.
fn page_above(path: &str) -> String {
    let steps: Vec<&str> = path.split('/').skip(1).collect();
    match steps[..] {
        ["inbox", "items", id, ..] => format!("/inbox/items/{id}"),
        ["inbox", "settings", page @ ("people" | "agents" | "deliveries"), ..] => format!("/inbox/settings/{page}"),
        ["inbox", "settings", ..] => "/inbox/settings".to_owned(),
        ["inbox", "agents", id, ..] => format!("/inbox/agents/{id}"),
        ["inbox", "terminals", ..] => "/inbox/agents".to_owned(),
        ["runs", run_id, ..] => run_href(run_id),
        ["runs"] => "/runs".to_owned(),
        ["signin", ..] => "/signin".to_owned(),
        _ => "/inbox".to_owned(),
    }
}
