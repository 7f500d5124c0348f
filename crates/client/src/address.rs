//! The hub's address: from the environment first, then from `hub.json` in the data directory. Shared by both
//! programs.

use std::env;
use std::fs::{File, TryLockError};
use std::io::{self, ErrorKind, Read};
use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use countersign_protocol::api::HubFile;

use super::data_dir::{fault_of_directory, fault_of_file};

#[derive(Debug, Clone, PartialEq)]
pub struct HubAddress {
    pub url: String,
    pub token: String,
    pub source: AddressSource,
}

/// Where the hub's address came from.
#[derive(Debug, Clone, PartialEq)]
pub enum AddressSource {
    Environment,
    DataDirectory(PathBuf),
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LocateError {
    #[error("no hub is running on {}: start one with `countersign serve`", .0.display())]
    NoHub(PathBuf),
    #[error("{0}")]
    Unusable(String),
    /// A wrong setting, which the user can correct.
    #[error("{0}")]
    Setting(String),
}

impl HubAddress {
    /// `data` is called only if the environment does not name the hub; `own` takes address and token from `hub.json`.
    pub fn find(
        data: impl FnOnce() -> anyhow::Result<PathBuf>,
        own: impl FnOnce(HubFile) -> (String, Option<String>),
    ) -> Result<Self, LocateError> {
        Self::choose(data, own, |name| env::var(name).ok().filter(|value| !value.is_empty()))
    }

    /// A token alone is used on the hub of the data directory. An address alone is refused: a token from `hub.json`
    /// must not be sent to an address that another party may have put into the environment.
    fn choose(
        data: impl FnOnce() -> anyhow::Result<PathBuf>,
        own: impl FnOnce(HubFile) -> (String, Option<String>),
        variable: impl Fn(&str) -> Option<String>,
    ) -> Result<Self, LocateError> {
        match (variable("COUNTERSIGN_URL"), variable("COUNTERSIGN_TOKEN")) {
            (Some(url), Some(token)) => Ok(Self {
                url,
                token,
                source: AddressSource::Environment,
            }),
            (Some(_), None) => {
                let message = "COUNTERSIGN_URL is set without COUNTERSIGN_TOKEN: set both, or neither";
                Err(LocateError::Setting(message.to_owned()))
            }
            (None, token) => {
                let data = data().map_err(|error| LocateError::Unusable(format!("{error:#}")))?;
                let (url, own_token) = own(read_hub_file(&data)?);
                let token = token.or(own_token).ok_or_else(|| too_old(&data))?;
                Ok(Self {
                    url,
                    token,
                    source: AddressSource::DataDirectory(data),
                })
            }
        }
    }
}

fn too_old(data: &Path) -> LocateError {
    let shown = data.display();
    LocateError::Unusable(format!("the hub on {shown} is older than this program: restart it"))
}

/// Reads `hub.json` while the hub that wrote it is alive. A killed hub leaves its file behind, and another process
/// may listen on its port by now; that process must get neither a token nor a question. A directory that other users
/// can write to is refused for the same reason.
pub fn read_hub_file(data: &Path) -> Result<HubFile, LocateError> {
    if let Some(fault) = fault_of_directory(data) {
        return Err(LocateError::Unusable(fault));
    }
    let path = data.join("hub.json");
    let (text, fault) = match read(&path) {
        Ok(read) => read,
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            return Err(LocateError::NoHub(data.to_owned()));
        }
        Err(error) => {
            return Err(LocateError::Unusable(format!(
                "{} cannot be read: {error}",
                path.display()
            )));
        }
    };
    if !is_held(&data.join("hub.lock")) {
        return Err(LocateError::NoHub(data.to_owned()));
    }
    if let Some(fault) = fault {
        return Err(LocateError::Unusable(fault));
    }
    // The parser's error would quote the file, which holds a token.
    let damaged = || LocateError::Unusable(format!("{} is damaged: restart the hub", path.display()));
    serde_json::from_str(&text).map_err(|_| damaged())
}

fn read(path: &Path) -> io::Result<(String, Option<String>)> {
    let mut file = File::open(path)?;
    let fault = fault_of_file(path, &file.metadata()?);
    let mut text = String::new();
    file.read_to_string(&mut text)?;
    Ok((text, fault))
}

/// The hub holds its lock while it runs. Where locks are unsupported, the file is trusted.
fn is_held(lock: &Path) -> bool {
    let Ok(lock) = File::open(lock) else { return false };
    match lock.try_lock_shared() {
        Ok(()) => false,
        Err(TryLockError::WouldBlock | TryLockError::Error(_)) => true,
    }
}

/// `host` as written in a URL.
pub fn is_loopback(host: &str) -> bool {
    let address: Option<IpAddr> = host.trim_matches(['[', ']']).parse().ok();
    host == "localhost" || address.is_some_and(|address| address.is_loopback())
}

/// The warning before a token leaves this machine unencrypted; given once per process.
pub fn plain_warning(is_https: bool, host: &str, shown: &str) -> Option<String> {
    static WARNED: AtomicBool = AtomicBool::new(false);
    if is_https || is_loopback(host) || WARNED.swap(true, Ordering::Relaxed) {
        return None;
    }
    Some(format!(
        "{shown} is reached without encryption: anyone on the network path can read the token and the answers"
    ))
}

pub fn not_a_hub(url: &str) -> LocateError {
    LocateError::Setting(format!(
        "{url} is not the address of a hub: it starts with http:// or https://"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn choose(variables: &[(&str, &str)]) -> Result<HubAddress, LocateError> {
        HubAddress::choose(
            || Ok("/nonexistent/data".into()),
            |_| (String::new(), None),
            |name| {
                variables
                    .iter()
                    .find(|(known, _)| *known == name)
                    .map(|(_, value)| (*value).to_owned())
            },
        )
    }

    #[test]
    fn the_environment_names_the_hub() {
        let address = choose(&[("COUNTERSIGN_URL", "https://hub.example"), ("COUNTERSIGN_TOKEN", "t")]).unwrap();
        assert_eq!(
            (address.url.as_str(), address.source),
            ("https://hub.example", AddressSource::Environment)
        );
    }

    #[test]
    fn an_address_without_a_token_is_refused() {
        let error = choose(&[("COUNTERSIGN_URL", "https://hub.example")]).unwrap_err();
        assert!(error.to_string().contains("COUNTERSIGN_TOKEN"));
    }

    #[test]
    fn without_a_hub_file_no_hub_is_running() {
        let error = choose(&[]).unwrap_err();
        assert_eq!(error, LocateError::NoHub("/nonexistent/data".into()));
        let message = "no hub is running on /nonexistent/data: start one with `countersign serve`";
        assert_eq!(error.to_string(), message);
    }

    #[test]
    fn loopback_is_known_in_every_spelling() {
        assert!(
            ["127.0.0.1", "127.8.9.1", "[::1]", "localhost"]
                .into_iter()
                .all(is_loopback)
        );
        assert!(!["10.0.0.1", "hub.example", ""].into_iter().any(is_loopback));
    }
}
