//! GET /inbox/events: what happens, for the pages that are open.

use std::sync::Arc;

use axum::Router;
use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::Response;
use axum::routing::get;

use super::page::PageError;
use super::visitor::SignedInUser;
use crate::app::Hub;
use crate::inbox::news::{StreamFormat, stream};

pub fn router() -> Router<Arc<Hub>> {
    Router::new().route("/inbox/events", get(events))
}

/// Not sent to the sign-in page like other readers: no browser shows what a stream redirects to.
async fn events(State(hub): State<Arc<Hub>>, headers: HeaderMap) -> Result<Response, PageError> {
    let Some(user) = SignedInUser::from_headers(&headers, &hub).await? else {
        return Err(PageError::SignedOut);
    };
    let context = (Arc::clone(&hub), headers.clone());
    let is_authorized = move || {
        let (hub, headers) = context.clone();
        async move { is_signed_in(&hub, &headers).await }
    };
    Ok(stream(&hub, &user.name, &headers, StreamFormat::Web, is_authorized)?)
}

/// A store that cannot say so now has not ended anybody's session.
pub async fn is_signed_in(hub: &Hub, headers: &HeaderMap) -> bool {
    match SignedInUser::from_headers(headers, hub).await {
        Ok(user) => user.is_some(),
        Err(_) => true,
    }
}
