//! GET /inbox/events: live events for open pages.

use std::sync::Arc;

use axum::Router;
use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::Response;
use axum::routing::get;
use countersign_hub::Hub;
use countersign_hub::http::event_stream::{StreamFormat, stream};

use super::look;
use super::page::PageError;
use super::signed_in_user::SignedInUser;

pub fn router() -> Router<Arc<Hub>> {
    Router::new().route("/inbox/events", get(events))
}

/// Without a session this is an error and not a redirect to the sign-in page, because a browser cannot show the target
/// of a redirected stream.
async fn events(State(hub): State<Arc<Hub>>, headers: HeaderMap) -> Result<Response, PageError> {
    let Some(user) = SignedInUser::from_headers(&headers, &hub).await? else {
        return Err(PageError::SignedOut);
    };
    let language = look::current().language;
    let context = (Arc::clone(&hub), headers.clone());
    let is_authorized = move || {
        let (hub, headers) = context.clone();
        async move { is_signed_in(&hub, &headers).await }
    };
    Ok(stream(
        &hub,
        &user.name,
        &headers,
        StreamFormat::Web(language),
        is_authorized,
    )?)
}

/// A store outage does not count as an ended session.
pub async fn is_signed_in(hub: &Hub, headers: &HeaderMap) -> bool {
    match SignedInUser::from_headers(headers, hub).await {
        Ok(user) => user.is_some(),
        Err(_) => true,
    }
}
