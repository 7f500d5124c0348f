//! The hub as `cueme` reaches it, with a token for terminals.

use std::path::Path;

pub use countersign_client::address::{AddressSource, LocateError};
use countersign_client::address::{HubAddress, is_loopback, not_a_hub, plain_warning, read_hub_file};
use countersign_client::data_dir;
use serde::Deserialize;
use ureq::http::Uri;

use crate::terminal::out;

#[derive(Debug, Clone, PartialEq)]
pub struct Location {
    /// Without a slash at its end.
    pub url: String,
    pub token: String,
    pub place: AddressSource,
}

/// `hub.json`, as much of it as matters here.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct HubFile {
    pub url: String,
    pub terminal_token: Option<String>,
    pub sign_in_url: Option<String>,
    pub pid: Option<u32>,
}

impl Location {
    /// `named` is the data directory of the command line.
    pub fn find(named: Option<&Path>) -> Result<Self, LocateError> {
        let own = |file: HubFile| (file.url, file.terminal_token);
        let address = HubAddress::find(|| data_dir::resolve(named), own);
        // One of the data directory has its own; this one was meant for another hub, or for another program.
        if std::env::var_os("COUNTERSIGN_TOKEN").is_some_and(|token| !token.is_empty())
            && !matches!(
                &address,
                Ok(HubAddress {
                    source: AddressSource::Environment,
                    ..
                }) | Err(LocateError::Setting(_))
            )
        {
            let told = "COUNTERSIGN_TOKEN is set without COUNTERSIGN_URL: set both, or neither";
            return Err(LocateError::Setting(told.to_owned()));
        }
        let address = address?;
        let location = Self::named(&address.url, address.token, address.source)?;
        let host = location.uri().host().unwrap_or_default().to_owned();
        if let Some(warning) = plain_warning(location.is_https(), &host, &location.shown_url()) {
            out::remark(&warning);
        }
        Ok(location)
    }

    fn named(url: &str, token: String, place: AddressSource) -> Result<Self, LocateError> {
        let uri: Option<Uri> = url.parse().ok();
        let is_web = |uri: &Uri| matches!(uri.scheme_str(), Some("http" | "https")) && uri.host().is_some();
        if !uri.as_ref().is_some_and(is_web) {
            return Err(not_a_hub(url));
        }
        if !token.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(LocateError::Setting("COUNTERSIGN_TOKEN is not a token".to_owned()));
        }
        Ok(Self {
            url: url.trim_end_matches('/').to_owned(),
            token,
            place,
        })
    }

    fn uri(&self) -> Uri {
        self.url.parse().unwrap_or_default()
    }

    /// The address without what may be secret in it.
    pub fn shown_url(&self) -> String {
        let uri = self.uri();
        let port = uri.port_u16().map(|port| format!(":{port}")).unwrap_or_default();
        format!(
            "{}://{}{port}",
            uri.scheme_str().unwrap_or("http"),
            uri.host().unwrap_or_default()
        )
    }

    pub fn is_https(&self) -> bool {
        self.uri().scheme_str() == Some("https")
    }

    pub fn is_loopback(&self) -> bool {
        is_loopback(self.uri().host().unwrap_or_default())
    }
}

impl HubFile {
    pub fn read(data: &Path) -> Result<Self, LocateError> {
        read_hub_file(data)
    }

    /// The hub that wrote it, whatever the environment says.
    pub fn location(&self, data: &Path) -> Option<Location> {
        let token = self.terminal_token.clone()?;
        Location::named(&self.url, token, AddressSource::DataDirectory(data.to_owned())).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(url: &str, token: &str) -> Result<Location, LocateError> {
        Location::named(url, token.to_owned(), AddressSource::Environment)
    }

    #[test]
    fn what_is_shown_of_an_address_holds_no_secret() {
        let location = named("https://me:pw@hub.example:8443/below/", "cst_t").unwrap();
        assert_eq!(location.url, "https://me:pw@hub.example:8443/below");
        assert_eq!(location.shown_url(), "https://hub.example:8443");
        assert!(location.is_https() && !location.is_loopback());
    }

    #[test]
    fn neither_another_scheme_nor_half_a_header_is_taken() {
        assert!(named("ftp://hub", "t").is_err());
        assert!(named("http://hub", "t\nx").is_err());
    }
}
