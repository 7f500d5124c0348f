//! Talks to a running hub over its HTTP interface, and over its socket for runs.

mod error;
mod locate;
mod relocating;
mod socket;

use std::time::Duration;

use anyhow::Result;
use countersign_protocol::api::terminals::ListedTerminal;
use reqwest::header::CONTENT_TYPE;
use reqwest::{Method, Response, StatusCode, Url};
use serde::de::DeserializeOwned;
use serde_json::Value;

pub use error::ClientError;
pub use locate::{AddressSource, HubLocation};
pub use relocating::RelocatingClient;
pub use socket::{Socket, SocketClosed};

const REQUEST_TIMEOUT: Duration = Duration::from_secs(30);
/// The slowest upload rate a request timeout allows for; a body with files gets extra time accordingly.
const SLOW_BYTES_PER_SECOND: u64 = 64 * 1024;

pub struct HubClient {
    location: HubLocation,
    http: reqwest::Client,
}

impl HubClient {
    pub fn new(location: HubLocation) -> Result<Self> {
        let http = location.http().timeout(REQUEST_TIMEOUT).build()?;
        Ok(Self { location, http })
    }

    pub fn location(&self) -> &HubLocation {
        &self.location
    }

    /// `path` comes in segments, and each is escaped on its own, because ids may hold slashes.
    pub async fn get(&self, path: &[&str], query: &[(&str, &str)]) -> Result<Value, ClientError> {
        let mut url = self.url(path);
        if !query.is_empty() {
            url.query_pairs_mut().extend_pairs(query);
        }
        self.read(self.send(Method::GET, url, None).await?).await
    }

    pub async fn post(&self, path: &[&str], body: &Value) -> Result<Value, ClientError> {
        self.read(self.send(Method::POST, self.url(path), Some(body)).await?)
            .await
    }

    /// One field of the reply to a GET: the list in `{"agents":[...]}`.
    pub async fn get_field(&self, path: &[&str], query: &[(&str, &str)], field: &str) -> Result<Value, ClientError> {
        let mut reply = self.get(path, query).await?;
        reply
            .get_mut(field)
            .map(Value::take)
            .ok_or_else(|| ClientError::unexpected(format!("its reply has no `{field}`")))
    }

    /// The agents in terminals.
    pub async fn terminals(&self) -> Result<Vec<ListedTerminal>, ClientError> {
        typed(&self.get_field(&["v1", "terminals"], &[], "terminals").await?)
    }

    /// Returns the reply with any status: for checks that look at more than the body.
    pub async fn probe(&self, path: &[&str]) -> Result<Response, ClientError> {
        self.send(Method::GET, self.url(path), None).await
    }

    async fn send(&self, method: Method, url: Url, body: Option<&Value>) -> Result<Response, ClientError> {
        let mut request = self.http.request(method, url).bearer_auth(&self.location.token);
        if let Some(body) = body {
            let bytes = body.to_string().into_bytes();
            let carried = Duration::from_secs(bytes.len() as u64 / SLOW_BYTES_PER_SECOND);
            request = request.timeout(REQUEST_TIMEOUT + carried);
            request = request.header(CONTENT_TYPE, "application/json").body(bytes);
        }
        request
            .send()
            .await
            .map_err(|error| ClientError::unreachable(&error, &self.location))
    }

    async fn read(&self, response: Response) -> Result<Value, ClientError> {
        let status = response.status();
        let body = response
            .bytes()
            .await
            .map_err(|error| ClientError::unreachable(&error, &self.location))?;
        if !status.is_success() {
            return Err(ClientError::refused(status, &body));
        }
        if status == StatusCode::NO_CONTENT {
            return Ok(Value::Null);
        }
        serde_json::from_slice(&body).map_err(|_| ClientError::unexpected("its reply is not JSON".to_owned()))
    }

    pub fn url(&self, path: &[&str]) -> Url {
        let mut url = self.location.url.clone();
        if let Ok(mut segments) = url.path_segments_mut() {
            segments.pop_if_empty().extend(path);
        }
        url
    }
}

/// Reads a reply of the hub into the shape this client knows.
pub fn typed<T: DeserializeOwned>(reply: &Value) -> Result<T, ClientError> {
    T::deserialize(reply).map_err(|error| ClientError::unexpected(format!("its reply is not understood: {error}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn client(url: &str) -> HubClient {
        let url = Url::parse(url).unwrap();
        HubClient::new(HubLocation {
            url,
            token: "t".to_owned(),
            source: AddressSource::Environment,
        })
        .unwrap()
    }

    #[test]
    fn ids_cannot_leave_their_path_segment() {
        let url = client("http://127.0.0.1:1").url(&["v1", "inbox", "../admin?x=1#y"]);
        assert_eq!(url.as_str(), "http://127.0.0.1:1/v1/inbox/..%2Fadmin%3Fx=1%23y");
    }

    #[test]
    fn a_hub_below_a_path_is_reached_below_it() {
        for base in ["https://example.com/hub", "https://example.com/hub/"] {
            assert_eq!(client(base).url(&["health"]).as_str(), "https://example.com/hub/health");
        }
    }
}
