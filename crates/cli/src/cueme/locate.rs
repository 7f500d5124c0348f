//! Finding the hub: the environment's word first, then `hub.json` in the data directory. The rules are those of
//! `countersign`; the token is one for terminals.

use std::fs;
use std::io::ErrorKind;
use std::net::IpAddr;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use ureq::http::Uri;

use super::data_dir;

#[derive(Debug, Clone, PartialEq)]
pub struct Location {
    /// Without a slash at its end.
    pub url: String,
    pub token: String,
    pub place: Place,
}

/// Who named the hub.
#[derive(Debug, Clone, PartialEq)]
pub enum Place {
    Environment,
    DataDirectory(PathBuf),
}

/// `hub.json`, as much of it as matters here.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct HubFile {
    pub url: String,
    pub terminal_token: Option<String>,
    pub sign_in_url: Option<String>,
    pub pid: Option<u32>,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LocateError {
    #[error("no hub is running on {}: start one with `countersign serve`", .0.display())]
    NoHub(PathBuf),
    #[error("{0}")]
    Unusable(String),
}

impl Location {
    /// `named` is the data directory of the command line.
    pub fn find(named: Option<&Path>) -> Result<Self, LocateError> {
        let data = || data_dir::resolve(named).map_err(|error| LocateError::Unusable(format!("{error:#}")));
        Self::choose(data, |name| std::env::var(name).ok().filter(|value| !value.is_empty()))
    }

    /// A token alone is used on the hub of the data directory. An address alone is refused: the token of `hub.json` must
    /// not travel to an address that somebody else may have put into the environment.
    fn choose(
        data: impl FnOnce() -> Result<PathBuf, LocateError>,
        variable: impl Fn(&str) -> Option<String>,
    ) -> Result<Self, LocateError> {
        match (variable("COUNTERSIGN_URL"), variable("COUNTERSIGN_TOKEN")) {
            (Some(url), Some(token)) => Self::named(&url, token, Place::Environment),
            (Some(_), None) => {
                let told = "COUNTERSIGN_URL is set without COUNTERSIGN_TOKEN: set both, or neither";
                Err(LocateError::Unusable(told.to_owned()))
            }
            (None, token) => {
                let data = data()?;
                let file = HubFile::read(&data)?;
                let token = token.or(file.terminal_token).ok_or_else(|| {
                    let shown = data.display();
                    LocateError::Unusable(format!(
                        "the hub on {shown} is older than this cueme: stop it and start it anew"
                    ))
                })?;
                Self::named(&file.url, token, Place::DataDirectory(data))
            }
        }
    }

    fn named(url: &str, token: String, place: Place) -> Result<Self, LocateError> {
        let uri: Option<Uri> = url.parse().ok();
        let is_web = |uri: &Uri| matches!(uri.scheme_str(), Some("http" | "https")) && uri.host().is_some();
        if !uri.as_ref().is_some_and(is_web) {
            let told = format!("{url} is not the address of a hub: it starts with http:// or https://");
            return Err(LocateError::Unusable(told));
        }
        if !token.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(LocateError::Unusable("COUNTERSIGN_TOKEN is not a token".to_owned()));
        }
        Ok(Self { url: url.trim_end_matches('/').to_owned(), token, place })
    }

    fn uri(&self) -> Uri {
        self.url.parse().unwrap_or_default()
    }

    /// The address without what may be secret in it.
    pub fn shown_url(&self) -> String {
        let uri = self.uri();
        let port = uri.port_u16().map(|port| format!(":{port}")).unwrap_or_default();
        format!("{}://{}{port}", uri.scheme_str().unwrap_or("http"), uri.host().unwrap_or_default())
    }

    pub fn is_https(&self) -> bool {
        self.uri().scheme_str() == Some("https")
    }

    pub fn is_loopback(&self) -> bool {
        let uri = self.uri();
        let host = uri.host().unwrap_or_default();
        let address: Option<IpAddr> = host.trim_matches(['[', ']']).parse().ok();
        host == "localhost" || address.is_some_and(|address| address.is_loopback())
    }
}

impl HubFile {
    pub fn read(data: &Path) -> Result<Self, LocateError> {
        let path = data.join("hub.json");
        let text = match fs::read_to_string(&path) {
            Ok(text) => text,
            Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
                return Err(LocateError::NoHub(data.to_owned()));
            }
            Err(error) => return Err(LocateError::Unusable(format!("{} cannot be read: {error}", path.display()))),
        };
        // The parser's own words would quote the file, which holds a token.
        let damaged = || LocateError::Unusable(format!("{} is damaged: restart the hub", path.display()));
        serde_json::from_str(&text).map_err(|_| damaged())
    }

    /// The hub that wrote it, whatever the environment says.
    pub fn location(&self, data: &Path) -> Option<Location> {
        let token = self.terminal_token.clone()?;
        Location::named(&self.url, token, Place::DataDirectory(data.to_owned())).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn choose(variables: &[(&str, &str)]) -> Result<Location, LocateError> {
        Location::choose(
            || Ok(PathBuf::from("/nonexistent/data")),
            |name| variables.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned()),
        )
    }

    #[test]
    fn the_environment_names_the_hub() {
        let both = [("COUNTERSIGN_URL", "https://me:pw@hub.example:8443/below/"), ("COUNTERSIGN_TOKEN", "cst_t")];
        let location = choose(&both).unwrap();
        assert_eq!(
            (location.url.as_str(), &location.place),
            ("https://me:pw@hub.example:8443/below", &Place::Environment)
        );
        assert_eq!(location.shown_url(), "https://hub.example:8443");
        assert!(location.is_https() && !location.is_loopback());
    }

    #[test]
    fn an_address_without_a_token_is_refused() {
        let error = choose(&[("COUNTERSIGN_URL", "https://hub.example")]).unwrap_err();
        assert!(error.to_string().contains("COUNTERSIGN_TOKEN"));
        assert!(choose(&[("COUNTERSIGN_URL", "ftp://hub"), ("COUNTERSIGN_TOKEN", "t")]).is_err());
        assert!(choose(&[("COUNTERSIGN_URL", "http://hub"), ("COUNTERSIGN_TOKEN", "t\nx")]).is_err());
    }

    #[test]
    fn without_a_hub_file_no_hub_is_running() {
        assert_eq!(choose(&[]).unwrap_err(), LocateError::NoHub(PathBuf::from("/nonexistent/data")));
    }

    #[test]
    fn loopback_is_known_in_every_spelling() {
        for url in ["http://127.0.0.1:7422", "http://[::1]:7422", "https://localhost"] {
            assert!(Location::named(url, String::new(), Place::Environment).unwrap().is_loopback(), "{url}");
        }
    }
}
