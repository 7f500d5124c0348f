//! The hub over HTTP: one connection, kept for the next call.

mod error;
mod import;

use std::sync::Arc;
use std::time::Duration;

use serde::de::DeserializeOwned;
use ureq::http::{Response, StatusCode};
use ureq::tls::{RootCerts, TlsConfig};
use ureq::{Agent, Body, Proxy};

use super::setup::locate::{AddressSource, Location};
use super::wire::{Cued, Join, Joined, Kept, KeptAnswers};
pub use error::HubError;

const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
/// For the parts of a call that do not wait for a person.
const CALL_TIMEOUT: Duration = Duration::from_secs(30);
const MOST_REPLY_BYTES: u64 = 16 * 1024 * 1024;
const BUFFER_BYTES: usize = 32 * 1024;

pub struct Hub {
    location: Location,
    agent: Agent,
}

impl Hub {
    pub fn new(location: Location) -> Self {
        let agent = agent(&location);
        Self { location, agent }
    }

    pub fn location(&self) -> &Location {
        &self.location
    }

    /// Whether a hub is there at all; needs no token.
    pub fn greet(&self) -> Result<(), HubError> {
        self.get(&["health"], "", CONNECT_TIMEOUT).map(drop)
    }

    /// Whether this is the hub that gave out the token. Where one was killed, another one or any program may have its port.
    pub fn knows_us(&self) -> bool {
        let asked = self.get(&["v1", "hap", "agents", "nobody", "current"], "", CONNECT_TIMEOUT);
        asked.map_or_else(|error| error.is_not_found(), |_| true)
    }

    pub fn join(&self, join: &Join) -> Result<Joined, HubError> {
        let body = serde_json::to_vec(join).map_err(|error| HubError::Strange(error.to_string()))?;
        typed(&self.post(&["v1", "hap", "join"], &body)?)
    }

    pub fn keep(&self, cue: &[u8]) -> Result<Kept, HubError> {
        typed(&self.post(&["v1", "hap", "cues"], cue)?)
    }

    /// The hub answers when the cue is settled or `wait_seconds` are over; `patience` is when to stop believing that it will.
    pub fn look(&self, id: &str, wait_seconds: u64, patience: Duration) -> Result<Cued, HubError> {
        typed(&self.get(&["v1", "hap", "cues", id], &format!("?wait={wait_seconds}"), patience)?)
    }

    pub fn current(&self, agent_id: &str) -> Result<Cued, HubError> {
        typed(&self.get(&["v1", "hap", "agents", agent_id, "current"], "", CALL_TIMEOUT)?)
    }

    /// What people decided while nobody waited for it.
    pub fn kept(&self, agent_id: &str) -> Result<Vec<Cued>, HubError> {
        let kept: KeptAnswers = typed(&self.get(&["v1", "hap", "agents", agent_id, "kept"], "", CALL_TIMEOUT)?)?;
        Ok(kept.kept)
    }

    pub fn file(&self, id: &str, index: usize) -> Result<Vec<u8>, HubError> {
        self.get(
            &["v1", "hap", "cues", id, "files", &index.to_string()],
            "",
            CALL_TIMEOUT,
        )
    }

    pub fn collected(&self, id: &str) -> Result<(), HubError> {
        self.post(&["v1", "hap", "cues", id, "collected"], b"").map(drop)
    }

    fn get(&self, path: &[&str], query: &str, patience: Duration) -> Result<Vec<u8>, HubError> {
        let request = self
            .agent
            .get(self.url(path) + query)
            .config()
            .timeout_recv_response(Some(patience))
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
            .limit(MOST_REPLY_BYTES)
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

    /// The path is given in segments because ids may hold slashes and worse; each is escaped on its own.
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

fn typed<T: DeserializeOwned>(body: &[u8]) -> Result<T, HubError> {
    serde_json::from_slice(body).map_err(|error| HubError::Strange(format!("its reply is not understood: {error}")))
}

/// Each phase has its own limit instead of one for all: that one would also watch name look-ups, with a thread.
fn agent(location: &Location) -> Agent {
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
        config.tls_config(trust(location))
    } else {
        config
    };
    config.build().new_agent()
}

/// The system's certificates. A hub that serves TLS is reached on loopback by its own `hub.json`, where no certificate
/// carries the name 127.0.0.1; whoever can listen there can read plain HTTP as well, so nothing is lost.
fn trust(location: &Location) -> TlsConfig {
    let own_machine = location.is_loopback() && location.place != AddressSource::Environment;
    TlsConfig::builder()
        .root_certs(RootCerts::PlatformVerifier)
        .disable_verification(own_machine)
        .unversioned_rustls_crypto_provider(Arc::new(rustls::crypto::aws_lc_rs::default_provider()))
        .build()
}

/// Replies that a hub on its way up or down may give, or something in front of it.
fn will_pass(status: StatusCode) -> bool {
    status.is_server_error() || matches!(status, StatusCode::REQUEST_TIMEOUT | StatusCode::TOO_MANY_REQUESTS)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hub(url: &str) -> Hub {
        Hub::new(Location {
            url: url.to_owned(),
            token: "t".to_owned(),
            place: AddressSource::Environment,
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
