//! The HTTP client for the hub, with one keep-alive connection.

mod error;
mod import;

use std::sync::Arc;
use std::time::Duration;

use serde::de::DeserializeOwned;
use ureq::http::{Response, StatusCode};
use ureq::tls::{RootCerts, TlsConfig};
use ureq::{Agent, Body, Proxy};

use super::setup::locate::{AddressSource, Location};
use super::wire::{AcceptedCue, CueView, JoinReply, JoinRequest, UncollectedReply};
pub use error::HubError;

const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
/// Limit for each phase of a call that does not wait for a person.
const CALL_TIMEOUT: Duration = Duration::from_secs(30);
const MAX_REPLY_BYTES: u64 = 16 * 1024 * 1024;
const BUFFER_BYTES: usize = 32 * 1024;

pub struct CuemeClient {
    location: Location,
    agent: Agent,
}

impl CuemeClient {
    pub fn new(location: Location) -> Self {
        let agent = http_agent(&location);
        Self { location, agent }
    }

    pub fn location(&self) -> &Location {
        &self.location
    }

    /// Checks that a hub answers; needs no token.
    pub fn check_health(&self) -> Result<(), HubError> {
        self.get(&["health"], "", CONNECT_TIMEOUT).map(drop)
    }

    /// Whether this hub issued the token. After a hub was killed, another hub or any other program may have its port.
    pub fn accepts_token(&self) -> bool {
        let reply = self.get(&["v1", "hap", "agents", "nobody", "current"], "", CONNECT_TIMEOUT);
        reply.map_or_else(|error| error.is_not_found(), |_| true)
    }

    pub fn join(&self, join: &JoinRequest) -> Result<JoinReply, HubError> {
        let body = serde_json::to_vec(join).map_err(|error| HubError::UnexpectedReply(error.to_string()))?;
        parse_reply(&self.post(&["v1", "hap", "join"], &body)?)
    }

    pub fn submit_cue(&self, cue: &[u8]) -> Result<AcceptedCue, HubError> {
        parse_reply(&self.post(&["v1", "hap", "cues"], cue)?)
    }

    /// Long-polls a cue: the hub answers when it is settled or after `wait_seconds`. The call fails after
    /// `reply_timeout`.
    pub fn poll_cue(&self, id: &str, wait_seconds: u64, reply_timeout: Duration) -> Result<CueView, HubError> {
        parse_reply(&self.get(
            &["v1", "hap", "cues", id],
            &format!("?wait={wait_seconds}"),
            reply_timeout,
        )?)
    }

    pub fn current(&self, agent_id: &str) -> Result<CueView, HubError> {
        parse_reply(&self.get(&["v1", "hap", "agents", agent_id, "current"], "", CALL_TIMEOUT)?)
    }

    /// Answers that no process has collected yet.
    pub fn uncollected(&self, agent_id: &str) -> Result<Vec<CueView>, HubError> {
        let reply: UncollectedReply =
            parse_reply(&self.get(&["v1", "hap", "agents", agent_id, "kept"], "", CALL_TIMEOUT)?)?;
        Ok(reply.kept)
    }

    pub fn download_file(&self, id: &str, index: usize) -> Result<Vec<u8>, HubError> {
        self.get(
            &["v1", "hap", "cues", id, "files", &index.to_string()],
            "",
            CALL_TIMEOUT,
        )
    }

    pub fn acknowledge(&self, id: &str) -> Result<(), HubError> {
        self.post(&["v1", "hap", "cues", id, "collected"], b"").map(drop)
    }

    fn get(&self, path: &[&str], query: &str, reply_timeout: Duration) -> Result<Vec<u8>, HubError> {
        let request = self
            .agent
            .get(self.url(path) + query)
            .config()
            .timeout_recv_response(Some(reply_timeout))
            .build();
        let response = request.header("authorization", self.bearer()).call();
        self.read(response)
    }

    fn post(&self, path: &[&str], body: &[u8]) -> Result<Vec<u8>, HubError> {
        let request = self.agent.post(self.url(path)).header("authorization", self.bearer());
        self.read(request.header("content-type", "application/json").send(body))
    }

    fn read(&self, response: Result<Response<Body>, ureq::Error>) -> Result<Vec<u8>, HubError> {
        let unreachable = |error| HubError::unreachable(&error, &self.location);
        let response = response.map_err(unreachable)?;
        let status = response.status();
        let body = response
            .into_body()
            .into_with_config()
            .limit(MAX_REPLY_BYTES)
            .read_to_vec()
            .map_err(unreachable)?;
        if status.is_success() {
            Ok(body)
        } else {
            Err(HubError::refused(status, &body))
        }
    }

    fn bearer(&self) -> String {
        format!("Bearer {}", self.location.token)
    }

    /// The path is given in segments, each escaped on its own, because an id may contain slashes.
    fn url(&self, path: &[&str]) -> String {
        let mut url = self.location.url.clone();
        for segment in path {
            url.push('/');
            escape_into(&mut url, segment);
        }
        url
    }
}

fn escape_into(url: &mut String, segment: &str) {
    for byte in segment.bytes() {
        match byte {
            b'0'..=b'9' | b'A'..=b'Z' | b'a'..=b'z' | b'-' | b'_' | b'~' => url.push(char::from(byte)),
            other => url.push_str(&format!("%{other:02X}")),
        }
    }
}

fn parse_reply<T: DeserializeOwned>(body: &[u8]) -> Result<T, HubError> {
    serde_json::from_slice(body).map_err(|error| HubError::UnexpectedReply(format!("not the expected JSON: {error}")))
}

/// Each phase has its own timeout. One timeout for the whole call would cover DNS look-ups too, and ureq runs those
/// on an extra thread then.
fn http_agent(location: &Location) -> Agent {
    let proxy = if location.is_loopback() {
        None
    } else {
        Proxy::try_from_env()
    };
    let config = Agent::config_builder()
        .user_agent(concat!("cueme/", env!("CARGO_PKG_VERSION")))
        .http_status_as_error(false)
        .max_redirects(0)
        .max_redirects_will_error(false)
        .no_delay(true)
        .proxy(proxy)
        .input_buffer_size(BUFFER_BYTES)
        .output_buffer_size(BUFFER_BYTES)
        .timeout_connect(Some(CONNECT_TIMEOUT))
        .timeout_send_request(Some(CALL_TIMEOUT))
        .timeout_send_body(Some(CALL_TIMEOUT))
        .timeout_recv_response(Some(CALL_TIMEOUT))
        .timeout_recv_body(Some(CALL_TIMEOUT));
    let config = if location.is_https() {
        config.tls_config(tls_config(location))
    } else {
        config
    };
    config.build().new_agent()
}

/// Trusts the system's certificates. A local TLS hub, found through `hub.json`, is not verified: no certificate
/// carries the name 127.0.0.1, and a program that can listen on loopback could read plain HTTP as well.
fn tls_config(location: &Location) -> TlsConfig {
    let own_machine = location.is_loopback() && location.source != AddressSource::Environment;
    TlsConfig::builder()
        .root_certs(RootCerts::PlatformVerifier)
        .disable_verification(own_machine)
        .unversioned_rustls_crypto_provider(Arc::new(rustls::crypto::aws_lc_rs::default_provider()))
        .build()
}

/// Statuses of a hub that starts or stops, or of a proxy in front of it.
fn is_transient_status(status: StatusCode) -> bool {
    status.is_server_error() || matches!(status, StatusCode::REQUEST_TIMEOUT | StatusCode::TOO_MANY_REQUESTS)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hub(url: &str) -> CuemeClient {
        CuemeClient::new(Location {
            url: url.to_owned(),
            token: "t".to_owned(),
            source: AddressSource::Environment,
        })
    }

    #[test]
    fn ids_cannot_leave_their_path_segment() {
        let url = hub("http://127.0.0.1:1").url(&["v1", "hap", "agents", "../é?x=1#y", "current"]);
        assert_eq!(
            url,
            "http://127.0.0.1:1/v1/hap/agents/%2E%2E%2F%C3%A9%3Fx%3D1%23y/current"
        );
    }

    #[test]
    fn a_hub_below_a_path_is_reached_below_it() {
        assert_eq!(
            hub("https://example.com/hub").url(&["health"]),
            "https://example.com/hub/health"
        );
    }
}
