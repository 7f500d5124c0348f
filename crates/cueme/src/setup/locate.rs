//! Where `cueme` finds its hub: the address and a terminal token.

use std::path::Path;

pub use countersign_client::address::{AddressSource, LocateError};
use countersign_client::address::{HubAddress, is_loopback, not_a_hub, plain_warning};
use countersign_client::data_dir;
use countersign_protocol::api::HubFile;
use ureq::http::Uri;

use crate::terminal::out;

#[derive(Debug, Clone, PartialEq)]
pub struct Location {
    /// Without a trailing slash.
    pub url: String,
    pub token: String,
    pub source: AddressSource,
}

impl Location {
    /// `data_flag` is the data directory of the command line.
    pub fn find(data_flag: Option<&Path>) -> Result<Self, LocateError> {
        let address = HubAddress::find(|| data_dir::resolve(data_flag), |file| (file.url, file.terminal_token));
        // A hub of the data directory has its own token; COUNTERSIGN_TOKEN was meant for another hub or program.
        if std::env::var_os("COUNTERSIGN_TOKEN").is_some_and(|token| !token.is_empty())
            && !matches!(
                &address,
                Ok(HubAddress {
                    source: AddressSource::Environment,
                    ..
                }) | Err(LocateError::Setting(_))
            )
        {
            let message = "COUNTERSIGN_TOKEN is set without COUNTERSIGN_URL: set both, or neither";
            return Err(LocateError::Setting(message.to_owned()));
        }
        let address = address?;
        let location = Self::parse(&address.url, address.token, address.source)?;
        let host = location.uri().host().unwrap_or_default().to_owned();
        if let Some(warning) = plain_warning(location.is_https(), &host, &location.shown_url()) {
            out::remark(&warning);
        }
        Ok(location)
    }

    /// The hub that wrote the file, regardless of the environment.
    pub fn of_file(file: &HubFile, data: &Path) -> Option<Self> {
        let token = file.terminal_token.clone()?;
        Self::parse(&file.url, token, AddressSource::DataDirectory(data.to_owned())).ok()
    }

    fn parse(url: &str, token: String, source: AddressSource) -> Result<Self, LocateError> {
        let uri: Option<Uri> = url.parse().ok();
        let is_web = |uri: &Uri| matches!(uri.scheme_str(), Some("http" | "https")) && uri.host().is_some();
        if !uri.as_ref().is_some_and(is_web) {
            return Err(not_a_hub(url));
        }
        if !token.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(LocateError::Setting(
                "COUNTERSIGN_TOKEN has characters that a token cannot have".to_owned(),
            ));
        }
        Ok(Self {
            url: url.trim_end_matches('/').to_owned(),
            token,
            source,
        })
    }

    fn uri(&self) -> Uri {
        self.url.parse().unwrap_or_default()
    }

    /// The address without credentials and path.
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

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(url: &str, token: &str) -> Result<Location, LocateError> {
        Location::parse(url, token.to_owned(), AddressSource::Environment)
    }

    #[test]
    fn a_shown_address_has_no_secret() {
        let location = parse("https://me:pw@hub.example:8443/below/", "cst_t").unwrap();
        assert_eq!(location.url, "https://me:pw@hub.example:8443/below");
        assert_eq!(location.shown_url(), "https://hub.example:8443");
        assert!(location.is_https() && !location.is_loopback());
    }

    #[test]
    fn other_schemes_and_line_breaks_in_tokens_are_refused() {
        assert!(parse("ftp://hub", "t").is_err());
        assert!(parse("http://hub", "t\nx").is_err());
    }
}
