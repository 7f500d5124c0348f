//! GET /v1/inbox/events

use std::sync::Arc;

use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::Response;

use crate::Hub;
use crate::http::callers::PersonCaller;
use crate::http::event_stream::{StreamFormat, stream};
use crate::problem::Problem;

/// A client that opens the stream first and then reads the list misses nothing.
pub async fn events(
    State(hub): State<Arc<Hub>>,
    person: PersonCaller,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let context = (Arc::clone(&hub), headers.clone());
    stream(&hub, &person.name, &headers, StreamFormat::Api, move || {
        let (hub, headers) = context.clone();
        async move { is_authorized(&headers, &hub).await }
    })
}

/// A store outage does not count as a revoked token.
async fn is_authorized(headers: &HeaderMap, hub: &Hub) -> bool {
    let caller = PersonCaller::from_headers(headers, "/v1/inbox/events", hub).await;
    !matches!(caller, Err(Problem::Unauthenticated | Problem::NotAuthorized { .. }))
}
