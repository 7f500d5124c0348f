//! Extractors for paths and query strings that reject with our own `Problem`.

use std::time::Duration;

use axum::extract::{FromRequestParts, Path, Query};
use axum::http::request::Parts;
use countersign_protocol::id::MessageId;
use serde::de::DeserializeOwned;

use crate::problem::Problem;

const MAX_WAIT_SECONDS: u64 = 60;

pub struct Params<T>(pub T);

impl<T: DeserializeOwned, S: Send + Sync> FromRequestParts<S> for Params<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        let query = Query::from_request_parts(parts, state).await;
        let params = query.map(|Query(params)| Self(params));
        params.map_err(|error| Problem::malformed(error.body_text()))
    }
}

/// The message id in a path. Text that cannot be an id gives the same 404 as an unknown message.
pub struct MessagePath(pub MessageId);

impl<S: Send + Sync> FromRequestParts<S> for MessagePath {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        let segment = Path::<String>::from_request_parts(parts, state).await;
        let id = segment.ok().and_then(|Path(text)| text.parse().ok());
        id.map(Self).ok_or_else(Problem::no_message)
    }
}

/// A file of an answer, by message id and index.
pub struct FilePath {
    pub id: MessageId,
    pub index: usize,
}

impl<S: Send + Sync> FromRequestParts<S> for FilePath {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        let segments = Path::<(String, String)>::from_request_parts(parts, state).await;
        let read = segments
            .ok()
            .and_then(|Path((id, index))| Some((id.parse().ok()?, index.parse().ok()?)));
        read.map(|(id, index)| Self { id, index })
            .ok_or_else(Problem::no_message)
    }
}

/// The agent id in a path, not checked for existence.
pub struct AgentPath(pub String);

impl<S: Send + Sync> FromRequestParts<S> for AgentPath {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        let segment = Path::<String>::from_request_parts(parts, state).await;
        segment
            .map(|Path(agent_id)| Self(agent_id))
            .map_err(|_| Problem::no_terminal())
    }
}

/// The run id in a path, not checked for existence.
pub struct RunPath(pub String);

impl<S: Send + Sync> FromRequestParts<S> for RunPath {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        let segment = Path::<String>::from_request_parts(parts, state).await;
        segment.map(|Path(run_id)| Self(run_id)).map_err(|_| Problem::no_run())
    }
}

/// A type-ahead text of an agent.
pub struct AheadPath {
    pub agent_id: String,
    pub id: i64,
}

impl<S: Send + Sync> FromRequestParts<S> for AheadPath {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        let segments = Path::<(String, String)>::from_request_parts(parts, state).await;
        let read = segments.ok().and_then(|Path((agent_id, id))| {
            Some(Self {
                agent_id,
                id: id.parse().ok()?,
            })
        });
        read.ok_or_else(Problem::no_terminal)
    }
}

/// Parses `wait` of a long-poll, capped at the maximum.
pub fn parse_wait(text: Option<&str>) -> Result<Duration, Problem> {
    let Some(text) = text else { return Ok(Duration::ZERO) };
    let seconds: u64 = text
        .parse()
        .map_err(|_| Problem::validation("wait", "wait must be a whole number of seconds"))?;
    Ok(Duration::from_secs(seconds.min(MAX_WAIT_SECONDS)))
}
