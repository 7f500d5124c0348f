//! The reply to a push. The hub retries after a 5xx and after no other status.

use bytes::Bytes;
use countersign_agent::{Refusal, Resolved};
use countersign_client::screen;
use http_body_util::Full;
use hyper::header::{CONTENT_TYPE, HeaderValue, RETRY_AFTER};
use hyper::{Response, StatusCode};
use serde_json::{Value, json};

use crate::commands::agent_commands::act::ActResult;
use crate::commands::agent_commands::outcome::resolution;

const RETRY_AFTER_SECONDS: &str = "5";

pub struct PushReply {
    status: StatusCode,
    body: Value,
    summary: ReplySummary,
}

/// The result printed by the receiver.
enum ReplySummary {
    Act(&'static str),
    Code(String),
}

impl PushReply {
    pub fn problem(status: StatusCode, code: &str, message: &str) -> Self {
        let body = json!({"error": {"code": code, "message": message}});
        Self {
            status,
            body,
            summary: ReplySummary::Code(code.to_owned()),
        }
    }

    fn success(body: &Value, act: &'static str) -> Self {
        Self {
            status: StatusCode::OK,
            body: body.clone(),
            summary: ReplySummary::Act(act),
        }
    }

    pub fn refused(refusal: &Refusal) -> Self {
        let status = StatusCode::from_u16(refusal.status()).unwrap_or(StatusCode::BAD_REQUEST);
        Self::problem(status, refusal.code(), &refusal.to_string())
    }

    pub fn duplicate() -> Self {
        Self::success(&json!({"status": "duplicate"}), "before")
    }

    /// A failed command did run, so the reply must not make the hub push again.
    pub fn acted(acted: &ActResult, message_id: &str) -> Self {
        let problem = |status, code| Self::problem(status, code, &acted.text(message_id));
        let reply = match acted {
            ActResult::Done => Self::success(&json!({"status": "acted", "ok": true}), acted.name()),
            ActResult::Failed(_) => Self::success(&json!({"status": "acted", "ok": false}), acted.name()),
            ActResult::Before { .. } => Self::duplicate(),
            ActResult::Interrupted => problem(StatusCode::CONFLICT, "interrupted"),
            ActResult::Other => problem(StatusCode::CONFLICT, "other_outcome"),
            ActResult::UnderWay => problem(StatusCode::SERVICE_UNAVAILABLE, "under_way"),
        };
        Self {
            summary: ReplySummary::Act(acted.name()),
            ..reply
        }
    }

    /// One JSON object for machines. Nothing of an unverified push is repeated.
    pub fn line(&self, verified: Option<&Resolved>) -> String {
        let mut line = match &self.summary {
            ReplySummary::Act(act) => json!({ "act": act }),
            ReplySummary::Code(code) => json!({ "code": code }),
        };
        if let Some(resolved) = verified {
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
            headers.insert(RETRY_AFTER, HeaderValue::from_static(RETRY_AFTER_SECONDS));
        }
        response
    }
}
