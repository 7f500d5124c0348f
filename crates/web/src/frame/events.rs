//! GET /inbox/events: what happens, for the pages that are open.

use std::sync::Arc;

use axum::Router;
use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::Response;
use axum::routing::get;
use countersign_hub::Hub;
use countersign_hub::inbox::news::{Format, stream};

use super::page::Failure;
use super::signed_in::Visitor;

pub fn router() -> Router<Arc<Hub>> {
    Router::new().route("/inbox/events", get(events))
}

/// Not sent to the sign-in page like other readers: no browser shows what a stream redirects to.
async fn events(State(hub): State<Arc<Hub>>, headers: HeaderMap) -> Result<Response, Failure> {
    let Some(visitor) = Visitor::from_headers(&headers, &hub).await? else {
        return Err(Failure::SignedOut);
    };
    let looked_at = (Arc::clone(&hub), headers.clone());
    let is_welcome = move || {
        let (hub, headers) = looked_at.clone();
        async move { is_signed_in(&hub, &headers).await }
    };
    Ok(stream(&hub, &visitor.name, &headers, Format::Web, is_welcome)?)
}

/// A store that cannot say so now has not ended anybody's session.
pub async fn is_signed_in(hub: &Hub, headers: &HeaderMap) -> bool {
    match Visitor::from_headers(headers, hub).await {
        Ok(visitor) => visitor.is_some(),
        Err(_) => true,
    }
}
