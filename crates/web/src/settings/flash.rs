//! Flash messages: the result of the last action on a settings page.

use std::convert::Infallible;

use axum::extract::FromRequestParts;
use axum::http::StatusCode;
use axum::http::request::Parts;
use countersign_hub::problem::Problem;

use crate::language::{problem_text, t};
use crate::layout::form::FormFields;
use crate::layout::formatting::DisplayTime;

/// A secret that is shown once and never again.
pub struct OneTimeSecret {
    pub title: String,
    /// An expiry that is shown after the title.
    pub until: Option<DisplayTime>,
    pub lines: Vec<(&'static str, String)>,
    /// Lines to paste elsewhere, made of the secret.
    pub ready: Vec<ReadyLine>,
    /// The address in the secret works on the hub's own machine only.
    pub is_local: bool,
}

/// A text to paste into a shell or a configuration.
pub struct ReadyLine {
    pub title: &'static str,
    pub text: String,
}

impl ReadyLine {
    pub fn new(title: &'static str, text: String) -> Self {
        Self { title, text }
    }
}

#[derive(Default)]
pub struct FlashMessage {
    pub done: Option<&'static str>,
    pub error: Option<FlashError>,
    pub secret: Option<OneTimeSecret>,
    /// The name of a removed account that was refused for a new one: the form offers to give it again.
    pub used_name: Option<String>,
}

pub struct FlashError {
    pub status: StatusCode,
    pub field: String,
    pub message: String,
}

/// The `done` code in the URL that a form redirects to. Unknown codes show no message.
#[derive(Debug)]
pub struct DoneQuery {
    done: String,
    pub id: String,
}

impl<S: Send + Sync> FromRequestParts<S> for DoneQuery {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Infallible> {
        let fields = FormFields::parse(parts.uri.query().unwrap_or_default().as_bytes());
        Ok(Self {
            done: fields.text("done").to_owned(),
            id: fields.text("id").to_owned(),
        })
    }
}

const DONE: [(&str, &str); 16] = [
    ("password", "Your password is set. All other sessions have ended."),
    (
        "password-removed",
        "Your password is removed. All other sessions have ended.",
    ),
    ("passkey", "The passkey is added."),
    ("passkey-removed", "The passkey is removed."),
    ("session", "The session has ended."),
    ("sessions", "All other sessions have ended."),
    ("token", "The token is revoked."),
    ("role", "The role is changed."),
    ("person", "The account is removed."),
    ("agent", "The agent is removed."),
    ("host", "The host is approved."),
    ("host-removed", "The host is removed."),
    ("secret", "The secret is set."),
    ("secret-removed", "The secret is removed."),
    ("presets", "The reasons are saved."),
    ("undo", "The undo time is saved."),
];

impl FlashMessage {
    pub fn from_query(query: &DoneQuery) -> Self {
        let done = DONE
            .iter()
            .find(|(known, _)| *known == query.done)
            .map(|(_, text)| t(text));
        Self {
            done,
            ..Self::default()
        }
    }

    pub fn secret(title: impl Into<String>, lines: Vec<(&'static str, String)>) -> Self {
        Self {
            secret: Some(OneTimeSecret {
                title: title.into(),
                until: None,
                lines,
                ready: Vec::new(),
                is_local: false,
            }),
            ..Self::default()
        }
    }

    /// Like `secret`, with an expiry shown after the title.
    pub fn secret_until(title: impl Into<String>, until: DisplayTime, lines: Vec<(&'static str, String)>) -> Self {
        Self {
            secret: Some(OneTimeSecret {
                title: title.into(),
                until: Some(until),
                lines,
                ready: Vec::new(),
                is_local: false,
            }),
            ..Self::default()
        }
    }

    pub fn with_ready(mut self, ready: Vec<ReadyLine>) -> Self {
        if let Some(secret) = &mut self.secret {
            secret.ready = ready;
        }
        self
    }

    /// Warns that the address in the secret does not work on other machines.
    pub fn warn_if(mut self, is_local: bool) -> Self {
        if let Some(secret) = &mut self.secret {
            secret.is_local = is_local;
        }
        self
    }

    /// The refusal of a new account's name.
    pub fn refused_name(problem: Problem, name: &str) -> Self {
        let is_used = matches!(problem, Problem::NameUsed { .. });
        Self {
            used_name: is_used.then(|| name.to_owned()),
            ..Self::from(problem)
        }
    }

    pub fn status(&self) -> StatusCode {
        self.error.as_ref().map_or(StatusCode::OK, |error| error.status)
    }
}

impl From<Problem> for FlashMessage {
    fn from(problem: Problem) -> Self {
        let field = problem.field().unwrap_or_default().to_owned();
        let error = FlashError {
            status: problem.status(),
            field,
            message: problem_text(&problem),
        };
        Self {
            error: Some(error),
            ..Self::default()
        }
    }
}
