//! What a hub is told about its push. After a 5xx it comes again, after anything else it does not.

use bytes::Bytes;
use countersign_agent::Refusal;
use http_body_util::Full;
use hyper::header::{CONTENT_TYPE, HeaderValue, RETRY_AFTER};
use hyper::{Response, StatusCode};
use serde_json::{Value, json};

use super::super::act::Acted;

const COME_AGAIN_SECONDS: &str = "5";

pub struct Reply {
    status: StatusCode,
    body: Value,
}

impl Reply {
    pub fn problem(status: StatusCode, code: &str, message: &str) -> Self {
        Self { status, body: json!({"error": {"code": code, "message": message}}) }
    }

    pub fn refused(refusal: &Refusal) -> Self {
        let status = StatusCode::from_u16(refusal.status()).unwrap_or(StatusCode::BAD_REQUEST);
        Self::problem(status, refusal.code(), &refusal.to_string())
    }

    pub fn duplicate() -> Self {
        Self { status: StatusCode::OK, body: json!({"status": "duplicate"}) }
    }

    /// A command that failed was run, and must not be run again because the hub comes again.
    pub fn acted(acted: &Acted, message_id: &str) -> Self {
        let problem = |status, code| Self::problem(status, code, &acted.words(message_id));
        match acted {
            Acted::Done => Self { status: StatusCode::OK, body: json!({"status": "acted", "ok": true}) },
            Acted::Failed(_) => Self { status: StatusCode::OK, body: json!({"status": "acted", "ok": false}) },
            Acted::Before { .. } => Self::duplicate(),
            Acted::Interrupted => problem(StatusCode::CONFLICT, "interrupted"),
            Acted::Other => problem(StatusCode::CONFLICT, "other_outcome"),
            Acted::UnderWay => problem(StatusCode::SERVICE_UNAVAILABLE, "under_way"),
        }
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
