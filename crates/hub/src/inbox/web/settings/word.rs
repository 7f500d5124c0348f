//! What a settings page says about what was just done on it.

use axum::http::StatusCode;
use serde::Deserialize;

use crate::problem::Problem;

/// Something that is shown once and never again.
pub struct Once {
    pub title: String,
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
#[derive(Debug, Default, Deserialize)]
pub struct DoneQuery {
    done: Option<String>,
    #[serde(default)]
    pub id: String,
}

const DONE: [(&str, &str); 15] = [
    ("password", "Your password is set."),
    ("password-removed", "Your password is removed."),
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
        let code = query.done.as_deref().unwrap_or_default();
        let done = DONE.iter().find(|(known, _)| *known == code).map(|(_, words)| *words);
        Self { done, ..Self::default() }
    }

    pub fn once(title: impl Into<String>, lines: Vec<(&'static str, String)>) -> Self {
        Self { once: Some(Once { title: title.into(), lines }), ..Self::default() }
    }

    pub fn status(&self) -> StatusCode {
        self.refused.as_ref().map_or(StatusCode::OK, |refused| refused.status)
    }
}

impl From<Problem> for Word {
    fn from(problem: Problem) -> Self {
        let field = problem.field().unwrap_or_default().to_owned();
        let refused = Refused { status: problem.status(), field, message: problem.message() };
        Self { refused: Some(refused), ..Self::default() }
    }
}
