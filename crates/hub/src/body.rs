//! Request bodies: bounded in bytes and in time, and strict JSON.

use std::time::Duration;

use axum::body::{Body, Bytes};
use countersign_protocol::json;
use http_body_util::{BodyExt, Limited};
use serde::de::DeserializeOwned;

use crate::problem::Problem;

const PATIENCE: Duration = Duration::from_secs(30);

pub async fn read(body: Body, limit: usize) -> Result<Bytes, Problem> {
    let too_large = || Problem::InvalidField {
        field: "envelope".to_owned(),
        message: format!("the request is larger than {limit} bytes; send less, or link to the rest"),
    };
    if http_body::Body::size_hint(&body).lower() > limit as u64 {
        return Err(too_large());
    }
    let collected = tokio::time::timeout(PATIENCE, Limited::new(body, limit).collect()).await;
    match collected {
        Ok(Ok(collected)) => Ok(collected.to_bytes()),
        Ok(Err(error)) if error.is::<http_body_util::LengthLimitError>() => Err(too_large()),
        Ok(Err(_)) => Err(Problem::Validation { field: None, message: "the request body broke off".to_owned() }),
        Err(_elapsed) => Err(Problem::TimedOut),
    }
}

/// For our own small calls. The A2H envelope has its own parser with its own errors.
pub async fn read_json<T: DeserializeOwned>(body: Body) -> Result<T, Problem> {
    const LIMIT: usize = 64 * 1024;
    let bytes = read(body, LIMIT).await?;
    let value = json::parse(&bytes)?;
    serde_json::from_value(value).map_err(|error| Problem::Validation { field: None, message: error.to_string() })
}
