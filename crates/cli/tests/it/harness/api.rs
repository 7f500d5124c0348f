//! HTTP client for the hub's API, with one credential.

use reqwest::header::HeaderMap;
use reqwest::{Client, ClientBuilder, Method, RequestBuilder};
use serde_json::{Value, json};

use super::envelope::expiring;
use super::wait::within;

/// A client for plain HTTP. Without the system's certificates, which take longer to read than most tests to run.
pub fn http_client() -> ClientBuilder {
    Client::builder().no_proxy().tls_certs_only([])
}

#[derive(Clone)]
pub struct Api {
    http: Client,
    base: String,
    credential: Option<(&'static str, String)>,
}

impl Api {
    pub fn anonymous(base: &str) -> Self {
        Self {
            http: http_client().build().expect("an HTTP client"),
            base: base.to_owned(),
            credential: None,
        }
    }

    pub fn bearer(&self, token: &str) -> Self {
        Self {
            credential: Some(("authorization", format!("Bearer {token}"))),
            ..self.clone()
        }
    }

    /// The same credential, sent to another hub.
    pub fn to(&self, base: &str) -> Self {
        Self {
            base: base.to_owned(),
            ..self.clone()
        }
    }

    pub fn api_key(&self, token: &str) -> Self {
        Self {
            credential: Some(("x-api-key", token.to_owned())),
            ..self.clone()
        }
    }

    /// `path` may also be an absolute URL, such as a `poll_url`.
    pub fn request(&self, method: Method, path: &str) -> RequestBuilder {
        let url = if path.starts_with("http") {
            path.to_owned()
        } else {
            format!("{}{path}", self.base)
        };
        let request = self.http.request(method, url);
        match &self.credential {
            Some((name, value)) => request.header(*name, value),
            None => request,
        }
    }

    pub async fn try_send(request: RequestBuilder) -> Result<Reply, reqwest::Error> {
        let response = request.send().await?;
        let status = response.status().as_u16();
        let headers = response.headers().clone();
        Ok(Reply {
            status,
            headers,
            body: response.bytes().await?.to_vec(),
        })
    }

    pub async fn send(request: RequestBuilder) -> Reply {
        within("an HTTP reply", Self::try_send(request))
            .await
            .expect("the hub replies")
    }

    pub async fn get(&self, path: &str) -> Reply {
        Self::send(self.request(Method::GET, path)).await
    }

    pub async fn post(&self, path: &str, body: &Value) -> Reply {
        self.post_bytes(path, body.to_string()).await
    }

    pub async fn post_bytes(&self, path: &str, body: impl Into<Vec<u8>>) -> Reply {
        Self::send(self.post_request(path, body)).await
    }

    pub fn post_request(&self, path: &str, body: impl Into<Vec<u8>>) -> RequestBuilder {
        self.request(Method::POST, path)
            .header("content-type", "application/json")
            .body(body.into())
    }

    pub async fn submit(&self, envelope: &Value) -> Reply {
        self.post("/v1/messages", envelope).await
    }

    /// Submits an envelope that the hub must accept, and returns the message id.
    pub async fn accepted(&self, envelope: &Value) -> String {
        let ack = self.submit(envelope).await.expect(202);
        ack["id"].as_str().expect("an id in the ack").to_owned()
    }

    /// Submits an envelope that expires soon: at the first of these times that this machine is fast enough for.
    pub async fn accepted_briefly(&self, envelope: &Value) -> String {
        for millis in [300, 1500] {
            let reply = self.submit(&expiring(envelope.clone(), millis)).await;
            if reply.status == 202 {
                return reply.json()["id"].as_str().expect("an id in the ack").to_owned();
            }
            reply.refused_field("validation_error", "expires_at");
        }
        self.accepted(&expiring(envelope.clone(), 8000)).await
    }

    pub async fn pull(&self, id: &str) -> Value {
        self.get(&format!("/v1/messages/{id}")).await.expect(200)
    }

    /// Long-polls until the message is resolved.
    /// The long-poll outlasts `WAIT_TIMEOUT`, so its last read of the store cannot hide a lost wake-up.
    pub async fn outcome(&self, id: &str) -> Value {
        let body = self.get(&format!("/v1/messages/{id}?wait=60")).await.expect(200);
        assert_ne!(body["status"], "open", "still open after the wait: {body}");
        body
    }

    pub async fn resolve(&self, id: &str, body: Value) -> Reply {
        self.post(&format!("/v1/messages/{id}/resolve"), &body).await
    }

    pub async fn answer(&self, id: &str, value: &str) -> Reply {
        self.resolve(id, json!({"resolution": "answered", "value": value}))
            .await
    }

    pub async fn cancel(&self, id: &str) -> Reply {
        self.post_bytes(&format!("/v1/messages/{id}/cancel"), "").await
    }

    pub async fn healthy(&self) {
        let health = self.get("/health").await.expect(200);
        assert_eq!(health["status"], "ok", "{health}");
        for count in ["uptime", "activeRuns", "connectedClients"] {
            assert!(health[count].is_u64(), "{count}: {health}");
        }
    }
}

#[derive(Debug)]
pub struct Reply {
    pub status: u16,
    pub headers: HeaderMap,
    pub body: Vec<u8>,
}

impl Reply {
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    #[track_caller]
    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|error| {
            panic!(
                "{} with a body that is not JSON ({error}): {}",
                self.status,
                self.text()
            )
        })
    }

    pub fn header(&self, name: &str) -> &str {
        self.headers
            .get(name)
            .and_then(|value| value.to_str().ok())
            .unwrap_or_default()
    }

    #[track_caller]
    pub fn expect(&self, status: u16) -> Value {
        assert_eq!(self.status, status, "{}", self.text());
        self.json()
    }

    /// Asserts an error in the documented shape, with the HTTP status of its code.
    #[track_caller]
    pub fn refused(&self, code: &str) -> Value {
        let body = self.json();
        assert_eq!(body["error"]["code"], code, "{} {body}", self.status);
        assert_eq!(self.status, status_of(code), "{body}");
        assert!(
            body["error"]["message"].as_str().is_some_and(|text| !text.is_empty()),
            "an error message for people: {body}"
        );
        body
    }

    /// Like `refused`; the error's field path also contains `field`.
    #[track_caller]
    pub fn refused_field(&self, code: &str, field: &str) {
        let body = self.refused(code);
        let named = body["error"]["field"].as_str().unwrap_or_default();
        assert!(named.contains(field), "the error should name {field:?}: {body}");
    }

    /// Asserts `already_terminal`, with the outcome next to the error.
    #[track_caller]
    pub fn refused_as_terminal(&self, id: &str, status: &str) {
        let body = self.refused("already_terminal");
        assert_eq!(
            [&body["id"], &body["status"], &body["resolution"]],
            [&json!(id), &json!(status), &json!(status)],
            "{body}"
        );
    }
}

fn status_of(code: &str) -> u16 {
    match code {
        "validation_error" | "version_not_supported" => 400,
        "unauthenticated" => 401,
        "agent_id_mismatch" | "not_authorized" => 403,
        "not_found" => 404,
        "idempotency_conflict" | "already_terminal" | "already_exists" | "name_used" | "held" | "not_held" => 409,
        "gone" => 410,
        "misdirected_request" => 421,
        "invalid_field" => 422,
        "rate_limited" => 429,
        "unreadable" | "audit_broken" => 500,
        "unavailable" => 503,
        other => panic!("no HTTP status known for error code {other}"),
    }
}
