//! Finding the hub: the environment's word first, then `hub.json` in the data directory.

use std::fs;
use std::io::ErrorKind;
use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result, bail};
use reqwest::{ClientBuilder, Url, redirect};
use serde::Deserialize;

const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);

#[derive(Debug, Clone)]
pub struct Location {
    pub url: Url,
    pub token: String,
    pub place: Place,
}

/// Who named the hub.
#[derive(Debug, Clone, PartialEq)]
pub enum Place {
    Environment,
    DataDirectory(PathBuf),
}

#[derive(Deserialize)]
struct HubFile {
    url: String,
    token: String,
}

impl Location {
    /// `data` is asked for only when the environment does not name the hub.
    pub fn find(data: impl FnOnce() -> Result<PathBuf>) -> Result<Self> {
        Self::choose(data, |name| std::env::var(name).ok().filter(|value| !value.is_empty()))
    }

    /// A token alone is used on the hub of the data directory. An address alone is refused: the owner's token from
    /// `hub.json` must not travel to an address that somebody else may have put into the environment.
    fn choose(data: impl FnOnce() -> Result<PathBuf>, variable: impl Fn(&str) -> Option<String>) -> Result<Self> {
        let url = variable("COUNTERSIGN_URL");
        let token = variable("COUNTERSIGN_TOKEN");
        match (url, token) {
            (Some(url), Some(token)) => Self::named(&url, token, Place::Environment).context("COUNTERSIGN_URL"),
            (Some(_), None) => bail!("COUNTERSIGN_URL is set without COUNTERSIGN_TOKEN: set both, or neither"),
            (None, token) => {
                let data = data()?;
                let file = read_hub_file(&data)?;
                let place = Place::DataDirectory(data);
                Self::named(&file.url, token.unwrap_or(file.token), place).context("hub.json")
            }
        }
    }

    pub fn named(url: &str, token: String, place: Place) -> Result<Self> {
        let url = Url::parse(url).with_context(|| format!("{url} is not a URL"))?;
        if !matches!(url.scheme(), "http" | "https") || url.host().is_none() {
            bail!("{url} is not the address of a hub: it starts with http:// or https://");
        }
        Ok(Self { url, token, place })
    }

    /// The address without what may be secret in it.
    pub fn shown_url(&self) -> String {
        self.url.origin().ascii_serialization()
    }

    pub fn is_loopback(&self) -> bool {
        let host = self.url.host_str().unwrap_or_default();
        let address: Option<IpAddr> = host.trim_matches(['[', ']']).parse().ok();
        host == "localhost" || address.is_some_and(|address| address.is_loopback())
    }

    /// An HTTP client for this hub, without a limit to how long a reply may take.
    pub fn http(&self) -> ClientBuilder {
        let builder = reqwest::Client::builder()
            .user_agent(concat!("countersign/", env!("CARGO_PKG_VERSION")))
            .no_proxy()
            .redirect(redirect::Policy::none())
            .connect_timeout(CONNECT_TIMEOUT);
        self.trust(builder)
    }

    /// Which certificates to believe. The system's, with two exceptions. Plain HTTP needs none, and a machine without a
    /// trust store must be able to use it. A hub that serves TLS is reached on loopback by its own `hub.json`, where no
    /// certificate carries the name 127.0.0.1; whoever can listen there can read plain HTTP as well, so nothing is lost.
    fn trust(&self, builder: ClientBuilder) -> ClientBuilder {
        if self.url.scheme() == "http" {
            return builder.tls_certs_only([]);
        }
        let own_machine = self.is_loopback() && self.place != Place::Environment;
        builder.tls_danger_accept_invalid_certs(own_machine)
    }
}

pub(super) fn no_hub_on(data: &Path) -> String {
    format!("no hub is running on {}: start one with `countersign serve`", data.display())
}

fn read_hub_file(data: &Path) -> Result<HubFile> {
    let path = data.join("hub.json");
    let text = match fs::read_to_string(&path) {
        Ok(text) => text,
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => bail!(no_hub_on(data)),
        Err(error) => return Err(error).with_context(|| format!("{} cannot be read", path.display())),
    };
    // The parser's own words would quote the file, which holds a token.
    serde_json::from_str(&text).ok().with_context(|| format!("{} is damaged: restart the hub", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn choose(variables: &[(&str, &str)]) -> Result<Location> {
        Location::choose(
            || Ok("/nonexistent/data".into()),
            |name| variables.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned()),
        )
    }

    #[test]
    fn the_environment_names_the_hub() {
        let both = [("COUNTERSIGN_URL", "https://hub.example"), ("COUNTERSIGN_TOKEN", "t")];
        let location = choose(&both).unwrap();
        assert_eq!(location.place, Place::Environment);
        assert_eq!(location.shown_url(), "https://hub.example");
        assert!(!location.is_loopback());
    }

    #[test]
    fn an_address_without_a_token_is_refused() {
        let error = choose(&[("COUNTERSIGN_URL", "https://hub.example")]).unwrap_err();
        assert!(error.to_string().contains("COUNTERSIGN_TOKEN"));
    }

    #[test]
    fn without_a_hub_file_no_hub_is_running() {
        let error = choose(&[]).unwrap_err();
        let expected = "no hub is running on /nonexistent/data: start one with `countersign serve`";
        assert_eq!(error.to_string(), expected);
    }

    #[test]
    fn loopback_is_known_in_every_spelling() {
        for url in ["http://127.0.0.1:7422", "http://[::1]:7422", "https://localhost"] {
            assert!(Location::named(url, String::new(), Place::Environment).unwrap().is_loopback(), "{url}");
        }
        assert!(Location::named("ftp://hub.example", String::new(), Place::Environment).is_err());
    }
}
