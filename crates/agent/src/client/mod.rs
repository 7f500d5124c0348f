//! The HTTP client of one hub.

mod call;
mod cancel;
#[cfg(test)]
mod scene;
mod submit;
#[cfg(test)]
mod tests;
mod wait;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use countersign_protocol::a2h::Version;
use http::HeaderValue;
use reqwest::{ClientBuilder, redirect};
use tokio::sync::OnceCell;
use url::Url;

pub(crate) use call::HubCall;
pub use wait::{Progress, WaitUntil};

use crate::error::Error;

const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
const FIRST_PAUSE: Duration = Duration::from_millis(200);
const GIVE_UP_AFTER: Duration = Duration::from_secs(600);

/// A client of one hub, with the credential of one agent. Cheap to clone.
#[derive(Clone)]
pub struct Client {
    shared: Arc<Shared>,
    give_up_after: Duration,
    first_pause: Duration,
}

struct Shared {
    url: Url,
    token: String,
    http: reqwest::Client,
    version: OnceCell<Version>,
}

impl Client {
    /// Redirects and proxy settings of the environment are ignored: the token goes only to the hub and to the poll
    /// addresses that the hub returns.
    pub fn new(url: Url, token: String) -> Result<Self, Error> {
        if !is_web_address(&url) {
            let message = "must be the hub's address: it starts with http:// or https:// and contains no password";
            return Err(Error::invalid("url", message));
        }
        if token.is_empty() || HeaderValue::try_from(&token).is_err() {
            return Err(Error::invalid("token", "must be the agent's token, on one line"));
        }
        let http = client(&url).map_err(|error| Error::Unreachable(format!("no connection can be set up: {error}")))?;
        Ok(Self::with_client(url, token, http))
    }

    /// Uses the caller's HTTP client, for custom TLS trust. It should not follow redirects.
    pub fn with_client(url: Url, token: String, http: reqwest::Client) -> Self {
        let shared = Shared {
            url,
            token,
            http,
            version: OnceCell::new(),
        };
        Self {
            shared: Arc::new(shared),
            give_up_after: GIVE_UP_AFTER,
            first_pause: FIRST_PAUSE,
        }
    }

    /// Sets how long a hub may stay unreachable or too busy before a call fails. The default is ten minutes.
    pub fn giving_up_after(mut self, duration: Duration) -> Self {
        self.give_up_after = duration;
        self
    }

    /// The hub's origin, under which the journal stores drafts for it.
    pub(crate) fn origin(&self) -> String {
        self.shared.url.origin().ascii_serialization()
    }

    /// `path` comes in segments, each escaped on its own, because ids may contain slashes.
    pub(crate) fn address(&self, path: &[&str]) -> Url {
        let mut url = self.shared.url.clone();
        url.set_query(None);
        url.set_fragment(None);
        if let Ok(mut segments) = url.path_segments_mut() {
            segments.pop_if_empty().extend(path);
        }
        url
    }

    pub(crate) fn version_cell(&self) -> &OnceCell<Version> {
        &self.shared.version
    }

    pub(crate) fn give_up_after(&self) -> Duration {
        self.give_up_after
    }

    fn uses_tls(&self) -> bool {
        self.shared.url.scheme() == "https"
    }

    fn http(&self) -> &reqwest::Client {
        &self.shared.http
    }

    fn token(&self) -> &str {
        &self.shared.token
    }

    fn first_pause(&self) -> Duration {
        self.first_pause
    }
}

/// The token stays out of logs.
impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client")
            .field("url", &self.origin())
            .finish_non_exhaustive()
    }
}

/// Credentials in the address are refused because they would compete with the token.
fn is_web_address(url: &Url) -> bool {
    let is_plain = url.username().is_empty() && url.password().is_none();
    matches!(url.scheme(), "http" | "https") && url.has_host() && is_plain
}

/// A machine without a trust store can still use plain HTTP.
fn client(url: &Url) -> reqwest::Result<reqwest::Client> {
    match builder().build() {
        Err(_) if url.scheme() == "http" => builder().tls_certs_only([]).build(),
        built => built,
    }
}

fn builder() -> ClientBuilder {
    reqwest::Client::builder()
        .user_agent(concat!("countersign-agent/", env!("CARGO_PKG_VERSION")))
        .no_proxy()
        .redirect(redirect::Policy::none())
        .connect_timeout(CONNECT_TIMEOUT)
}
