//! The few pages a browser needs before there is an inbox in it, and the description of the API.

use std::sync::Arc;

use axum::extract::{Path, State};
use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use countersign_store::ops::credential::{Kind, RedeemSignIn};

use crate::admin::no_randomness;
use crate::app::Hub;
use crate::auth::{Token, hash_token};
use crate::problem::Problem;

const HEADERS: [(HeaderName, HeaderValue); 4] = [
    (header::CONTENT_TYPE, HeaderValue::from_static("text/html; charset=utf-8")),
    (header::CACHE_CONTROL, HeaderValue::from_static("no-store")),
    (header::REFERRER_POLICY, HeaderValue::from_static("no-referrer")),
    (
        header::CONTENT_SECURITY_POLICY,
        HeaderValue::from_static("default-src 'none'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'"),
    ),
];

/// `content` is ours; whatever comes from elsewhere is escaped by the caller.
fn page(status: StatusCode, content: &str) -> Response {
    let text = format!(
        "<!doctype html><html lang=\"en\"><head><meta charset=\"utf-8\"><title>Countersign</title>\
         <meta name=\"viewport\" content=\"width=device-width\"></head><body><main><h1>Countersign</h1>{content}\
         </main></body></html>"
    );
    (status, HEADERS, text).into_response()
}

pub async fn home() -> Response {
    page(
        StatusCode::OK,
        "<p>This hub is running. Agents ask it, people answer.</p>\
         <p>Answer from a terminal: <code>countersign inbox</code>, <code>countersign answer ID VALUE</code>.</p>\
         <p>For programs: <a href=\"/openapi.json\">the API</a>, <a href=\"/.well-known/a2h\">what this hub can do</a>.</p>",
    )
}

/// Opening the link does nothing yet: links are opened by scanners and previews too. The button does.
pub async fn sign_in_page(Path(_token): Path<String>) -> Response {
    page(
        StatusCode::OK,
        "<p>This link signs in once. It gives you an access token.</p>\
         <form method=\"post\"><button>Sign in</button></form>",
    )
}

pub async fn sign_in(State(hub): State<Arc<Hub>>, Path(link): Path<String>) -> Result<Response, Problem> {
    let token = Token::new(Kind::Person).map_err(no_randomness)?;
    let redeemed = hub.store.run(RedeemSignIn { hash: hash_token(&link), token_hash: token.hash }).await?;
    let Some(name) = redeemed else {
        let text = "<p>This link has been used or is too old. Restart the hub for a new one.</p>";
        return Ok(page(StatusCode::GONE, text));
    };
    let content = format!(
        "<p>You are signed in as <b>{name}</b>. This is your access token; it is not shown again.</p>\
         <p><code>{token}</code></p><p>On another machine: <code>export COUNTERSIGN_URL={url} \
         COUNTERSIGN_TOKEN={token}</code>, then <code>countersign inbox</code>.</p>",
        token = token.text,
        url = hub.url(),
    );
    Ok(page(StatusCode::OK, &content))
}

pub async fn openapi() -> Response {
    let text = include_str!("../openapi.json");
    ([(header::CONTENT_TYPE, "application/json")], text).into_response()
}
