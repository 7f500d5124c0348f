//! GET /inbox/events: what happens, for the pages that are open.

use std::sync::Arc;

use axum::Router;
use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::Response;
use axum::routing::get;

use super::page::Failure;
use super::visitor::Visitor;
use crate::app::Hub;
use crate::inbox::news::{Format, last_event_id, stream};

pub fn router() -> Router<Arc<Hub>> {
    Router::new().route("/inbox/events", get(events))
}

/// Not sent to the sign-in page like other readers: no browser shows what a stream redirects to.
async fn events(State(hub): State<Arc<Hub>>, headers: HeaderMap) -> Result<Response, Failure> {
    if Visitor::from_headers(&headers, &hub).await?.is_none() {
        return Err(Failure::SignedOut);
    }
    let listener = hub.news.listen(last_event_id(&headers));
    let is_welcome = move || {
        let (hub, headers) = (Arc::clone(&hub), headers.clone());
        async move { is_signed_in(&hub, &headers).await }
    };
    Ok(stream(listener, Format::Web, is_welcome))
}

/// A store that cannot say so now has not ended anybody's session.
async fn is_signed_in(hub: &Hub, headers: &HeaderMap) -> bool {
    match Visitor::from_headers(headers, hub).await {
        Ok(visitor) => visitor.is_some(),
        Err(_) => true,
    }
}
