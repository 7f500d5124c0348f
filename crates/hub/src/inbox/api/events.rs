//! GET /v1/inbox/events

use std::sync::Arc;

use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::Response;

use crate::app::Hub;
use crate::auth::PersonCaller;
use crate::inbox::news::{Format, stream};
use crate::problem::Problem;

/// Whoever opens the stream first and reads the list then misses nothing.
pub async fn events(
    State(hub): State<Arc<Hub>>,
    person: PersonCaller,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let looked_at = (Arc::clone(&hub), headers.clone());
    stream(&hub, &person.name, &headers, Format::Api, move || {
        let (hub, headers) = looked_at.clone();
        async move { is_welcome(&headers, &hub).await }
    })
}

/// A store that cannot say so now has taken nobody's token away.
async fn is_welcome(headers: &HeaderMap, hub: &Hub) -> bool {
    let caller = PersonCaller::from_headers(headers, hub).await;
    !matches!(caller, Err(Problem::Unauthenticated | Problem::NotAuthorized { .. }))
}
