//! Addresses and query strings, with errors in our own words.

use axum::extract::{FromRequestParts, Path, Query};
use axum::http::request::Parts;
use countersign_protocol::id::MessageId;
use serde::de::DeserializeOwned;

use crate::problem::Problem;

pub struct Params<T>(pub T);

impl<T: DeserializeOwned, S: Send + Sync> FromRequestParts<S> for Params<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        match Query::from_request_parts(parts, state).await {
            Ok(Query(params)) => Ok(Self(params)),
            Err(error) => Err(Problem::Validation { field: None, message: error.body_text() }),
        }
    }
}

/// The message an address names. One that cannot be an id is one that is not there.
pub struct MessagePath(pub MessageId);

impl<S: Send + Sync> FromRequestParts<S> for MessagePath {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        let segment = Path::<String>::from_request_parts(parts, state).await;
        let id = segment.ok().and_then(|Path(text)| text.parse().ok());
        id.map(Self).ok_or_else(Problem::no_message)
    }
}
