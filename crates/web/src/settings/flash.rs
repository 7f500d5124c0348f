//! What a settings page says about what was just done on it.

use std::convert::Infallible;

use axum::extract::FromRequestParts;
use axum::http::StatusCode;
use axum::http::request::Parts;
use countersign_hub::problem::Problem;

use crate::frame::form::Fields;
use crate::frame::format::Instant;

/// Something that is shown once and never again.
pub struct Once {
    pub title: String,
    /// What the title ends with.
    pub until: Option<Instant>,
    pub lines: Vec<(&'static str, String)>,
}

#[derive(Default)]
pub struct Word {
    pub done: Option<&'static str>,
    pub refused: Option<Refused>,
    pub once: Option<Once>,
}

pub struct Refused {
    pub status: StatusCode,
    pub field: String,
    pub message: String,
}

/// The address a form leads to names what was done; anything else there says nothing.
#[derive(Debug)]
pub struct DoneQuery {
    done: String,
    pub id: String,
}

impl<S: Send + Sync> FromRequestParts<S> for DoneQuery {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Infallible> {
        let fields = Fields::parse(parts.uri.query().unwrap_or_default().as_bytes());
        Ok(Self {
            done: fields.text("done").to_owned(),
            id: fields.text("id").to_owned(),
        })
    }
}

const DONE: [(&str, &str); 15] = [
    ("password", "Your password is set. All other sessions have ended."),
    (
        "password-removed",
        "Your password is removed. All other sessions have ended.",
    ),
    ("passkey", "The passkey is added."),
    ("passkey-removed", "The passkey is removed."),
    ("session", "The session has ended."),
    ("sessions", "All other sessions have ended."),
    ("token", "The token has ended."),
    ("role", "The role is changed."),
    ("person", "The account is removed."),
    ("agent", "The agent is removed."),
    ("host", "The host is approved."),
    ("host-removed", "The host is removed."),
    ("secret", "The secret is set."),
    ("secret-removed", "The secret is removed."),
    ("presets", "The reasons are saved."),
];

impl Word {
    pub fn from_query(query: &DoneQuery) -> Self {
        let done = DONE
            .iter()
            .find(|(known, _)| *known == query.done)
            .map(|(_, words)| *words);
        Self {
            done,
            ..Self::default()
        }
    }

    pub fn once(title: impl Into<String>, lines: Vec<(&'static str, String)>) -> Self {
        Self {
            once: Some(Once {
                title: title.into(),
                until: None,
                lines,
            }),
            ..Self::default()
        }
    }

    /// The title goes on with the instant.
    pub fn once_until(title: impl Into<String>, until: Instant, lines: Vec<(&'static str, String)>) -> Self {
        Self {
            once: Some(Once {
                title: title.into(),
                until: Some(until),
                lines,
            }),
            ..Self::default()
        }
    }

    pub fn status(&self) -> StatusCode {
        self.refused.as_ref().map_or(StatusCode::OK, |refused| refused.status)
    }
}

impl From<Problem> for Word {
    fn from(problem: Problem) -> Self {
        let field = problem.field().unwrap_or_default().to_owned();
        let refused = Refused {
            status: problem.status(),
            field,
            message: problem.message(),
        };
        Self {
            refused: Some(refused),
            ..Self::default()
        }
    }
}
