//! The error body of a hub's HTTP API.

use serde::Deserialize;

#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct ApiError {
    pub code: String,
    pub message: String,
    #[serde(default)]
    pub field: Option<String>,
    /// The id under which the hub logged the cause of an internal error.
    #[serde(default)]
    pub id: Option<String>,
}

#[derive(Deserialize)]
struct ApiErrorBody {
    error: ApiError,
}

impl ApiError {
    /// `None` when the body is not a hub's error.
    pub fn read(body: &[u8]) -> Option<Self> {
        serde_json::from_slice(body).ok().map(|ApiErrorBody { error }| error)
    }
}

/// The message, prefixed with the field unless the message names it already.
pub fn with_field(field: Option<&str>, message: &str) -> String {
    match field {
        Some(field) if !message.contains(field) => format!("{field}: {message}"),
        Some(_) | None => message.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_field_is_named_once() {
        let text = |body: &str| {
            let refused = ApiError::read(body.as_bytes())?;
            Some(with_field(refused.field.as_deref(), &refused.message))
        };
        let plain = r#"{"error":{"code":"not_found","message":"no such message"}}"#;
        assert_eq!(text(plain).unwrap(), "no such message");
        let fielded = r#"{"error":{"code":"invalid_field","message":"too long","field":"body"}}"#;
        assert_eq!(text(fielded).unwrap(), "body: too long");
        let named = r#"{"error":{"code":"invalid_field","message":"body: too long","field":"body"}}"#;
        assert_eq!(text(named).unwrap(), "body: too long");
        for other in ["<html>", "{}", r#"{"error":"no"}"#] {
            assert_eq!(text(other), None);
        }
    }
}
