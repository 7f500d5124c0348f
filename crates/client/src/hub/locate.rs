//! The hub as the commands of `countersign` reach it.

use std::path::PathBuf;
use std::time::Duration;

pub use crate::address::AddressSource;
use crate::address::{HubAddress, is_loopback, not_a_hub, plain_warning};
use anyhow::{Context, Result};
use reqwest::{ClientBuilder, Url, redirect};

use crate::screen::print_error;

const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);

#[derive(Debug, Clone)]
pub struct HubLocation {
    pub url: Url,
    pub token: String,
    pub source: AddressSource,
}

impl HubLocation {
    pub fn find(data: impl FnOnce() -> Result<PathBuf>) -> Result<Self> {
        let address = HubAddress::find(data, |file| (file.url, Some(file.token)))?;
        let named_by = match &address.source {
            AddressSource::Environment => "COUNTERSIGN_URL",
            AddressSource::DataDirectory(_) => "hub.json",
        };
        let location = Self::named(&address.url, address.token, address.source).context(named_by)?;
        let is_https = location.url.scheme() == "https";
        let host = location.url.host_str().unwrap_or_default();
        if let Some(warning) = plain_warning(is_https, host, &location.shown_url()) {
            print_error(&warning);
        }
        Ok(location)
    }

    pub fn named(url: &str, token: String, source: AddressSource) -> Result<Self> {
        let parsed = Url::parse(url).with_context(|| format!("{url} is not a URL"))?;
        if !matches!(parsed.scheme(), "http" | "https") || parsed.host().is_none() {
            return Err(not_a_hub(url).into());
        }
        Ok(Self {
            url: parsed,
            token,
            source,
        })
    }

    /// The address without credentials or path.
    pub fn shown_url(&self) -> String {
        self.url.origin().ascii_serialization()
    }

    pub fn is_loopback(&self) -> bool {
        is_loopback(self.url.host_str().unwrap_or_default())
    }

    /// An HTTP client for this hub, without an overall request timeout.
    pub fn http(&self) -> ClientBuilder {
        let builder = reqwest::Client::builder()
            .user_agent(concat!("countersign/", env!("CARGO_PKG_VERSION")))
            .no_proxy()
            .redirect(redirect::Policy::none())
            .connect_timeout(CONNECT_TIMEOUT);
        self.trust(builder)
    }

    /// Certificate checks use the system's trust store, with two exceptions. Plain HTTP needs no certificates and
    /// must work on a machine without a trust store. A hub that serves TLS is reached on loopback through its own
    /// `hub.json`, where no certificate carries the name 127.0.0.1; a process that can listen there could read plain
    /// HTTP as well, so skipping the check loses nothing.
    fn trust(&self, builder: ClientBuilder) -> ClientBuilder {
        if self.url.scheme() == "http" {
            return builder.tls_certs_only([]);
        }
        let own_machine = self.is_loopback() && self.source != AddressSource::Environment;
        builder.tls_danger_accept_invalid_certs(own_machine)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shown_address_holds_no_secret() {
        let location = HubLocation::named(
            "https://me:pw@hub.example/below",
            String::new(),
            AddressSource::Environment,
        )
        .unwrap();
        assert_eq!(location.shown_url(), "https://hub.example");
        assert!(!location.is_loopback());
        assert!(HubLocation::named("ftp://hub.example", String::new(), AddressSource::Environment).is_err());
    }
}
