//! What a hub is told about its push. After a 5xx it comes again, after anything else it does not.

use bytes::Bytes;
use countersign_agent::{Refusal, Resolved};
use http_body_util::Full;
use hyper::header::{CONTENT_TYPE, HeaderValue, RETRY_AFTER};
use hyper::{Response, StatusCode};
use serde_json::{Value, json};

use super::super::act::Acted;
use super::super::outcome::resolution;
use crate::screen;

const COME_AGAIN_SECONDS: &str = "5";

pub struct Reply {
    status: StatusCode,
    body: Value,
    told: Told,
}

/// What the one who started the receiver is told.
enum Told {
    Act(&'static str),
    Code(String),
}

impl Reply {
    pub fn problem(status: StatusCode, code: &str, message: &str) -> Self {
        let body = json!({"error": {"code": code, "message": message}});
        Self {
            status,
            body,
            told: Told::Code(code.to_owned()),
        }
    }

    fn good(body: &Value, act: &'static str) -> Self {
        Self {
            status: StatusCode::OK,
            body: body.clone(),
            told: Told::Act(act),
        }
    }

    pub fn refused(refusal: &Refusal) -> Self {
        let status = StatusCode::from_u16(refusal.status()).unwrap_or(StatusCode::BAD_REQUEST);
        Self::problem(status, refusal.code(), &refusal.to_string())
    }

    pub fn duplicate() -> Self {
        Self::good(&json!({"status": "duplicate"}), "before")
    }

    /// A command that failed was run, and must not be run again because the hub comes again.
    pub fn acted(acted: &Acted, message_id: &str) -> Self {
        let problem = |status, code| Self::problem(status, code, &acted.words(message_id));
        let reply = match acted {
            Acted::Done => Self::good(&json!({"status": "acted", "ok": true}), acted.name()),
            Acted::Failed(_) => Self::good(&json!({"status": "acted", "ok": false}), acted.name()),
            Acted::Before { .. } => Self::duplicate(),
            Acted::Interrupted => problem(StatusCode::CONFLICT, "interrupted"),
            Acted::Other => problem(StatusCode::CONFLICT, "other_outcome"),
            Acted::UnderWay => problem(StatusCode::SERVICE_UNAVAILABLE, "under_way"),
        };
        Self {
            told: Told::Act(acted.name()),
            ..reply
        }
    }

    /// One object for a machine. Of a push that was not believed nothing is repeated.
    pub fn line(&self, believed: Option<&Resolved>) -> String {
        let mut line = match &self.told {
            Told::Act(act) => json!({ "act": act }),
            Told::Code(code) => json!({ "code": code }),
        };
        if let Some(resolved) = believed {
            line["id"] = resolved.message_id.as_str().into();
            line["resolution"] = resolution(&resolved.outcome).into();
        }
        screen::json(&line)
    }

    pub fn into_response(self) -> Response<Full<Bytes>> {
        let mut response = Response::new(Full::from(self.body.to_string()));
        *response.status_mut() = self.status;
        let headers = response.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        if self.status == StatusCode::SERVICE_UNAVAILABLE {
            headers.insert(RETRY_AFTER, HeaderValue::from_static(COME_AGAIN_SECONDS));
        }
        response
    }
}
