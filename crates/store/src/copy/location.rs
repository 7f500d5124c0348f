//! The location of a store.

use std::fmt;
use std::path::{Path, PathBuf};

use tokio_postgres::Config;
use tokio_postgres::config::Host;

use super::error::CopyError;

/// A store to copy from or to.
#[derive(Debug, Clone)]
pub enum StoreLocation {
    /// The file of an embedded store. The caller holds the lock of its directory, so no hub is running on it.
    File(PathBuf),
    Database(Box<DatabaseLocation>),
}

#[derive(Clone)]
pub struct DatabaseLocation {
    pub(super) config: Config,
    shown: String,
}

impl StoreLocation {
    pub fn file(path: &Path) -> Self {
        Self::File(path.to_owned())
    }

    /// `password` is used if the URL has none: a URL on the command line is visible to every user of the machine.
    pub fn database(url: &str, password: Option<&str>) -> Result<Self, CopyError> {
        // Without the parser's message, which may quote part of a mistyped password.
        let mut config: Config = url.parse().map_err(|_| CopyError::InvalidUrl)?;
        if config.get_password().is_none()
            && let Some(password) = password
        {
            config.password(password);
        }
        let shown = shown(&config);
        Ok(Self::Database(Box::new(DatabaseLocation { config, shown })))
    }

    pub fn is_database_url(text: &str) -> bool {
        ["postgres://", "postgresql://"]
            .iter()
            .any(|scheme| text.starts_with(scheme))
    }
}

impl fmt::Display for StoreLocation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(path) => path.display().fmt(f),
            Self::Database(database) => f.write_str(&database.shown),
        }
    }
}

impl fmt::Debug for DatabaseLocation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.shown)
    }
}

/// Built from the parts that may be shown, rather than by cutting out the password.
fn shown(config: &Config) -> String {
    let user = config.get_user().map(|user| format!("{user}@")).unwrap_or_default();
    let hosts: Vec<String> = config
        .get_hosts()
        .iter()
        .enumerate()
        .map(|(index, host)| match host {
            Host::Tcp(name) => format!("{name}{}", port(config, index)),
            // Percent-encoded, as in a URL.
            Host::Unix(path) => path.display().to_string().replace('/', "%2F") + &port(config, index),
        })
        .collect();
    let name = config.get_dbname().or(config.get_user()).unwrap_or_default();
    format!("postgres://{user}{}/{name}", hosts.join(","))
}

/// The settings hold one port for all hosts, or one for each.
fn port(config: &Config, index: usize) -> String {
    let ports = config.get_ports();
    let port = ports.get(index).or_else(|| ports.first().filter(|_| ports.len() == 1));
    port.map(|port| format!(":{port}")).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn password_is_never_shown() {
        for url in [
            "postgres://ann:s3cret@db.example:5433/hub?sslmode=require",
            "postgresql://ann@db.example:5433/hub?password=s3cret",
            "host=db.example port=5433 user=ann dbname=hub password=s3cret",
        ] {
            let location = StoreLocation::database(url, Some("an0ther")).unwrap();
            assert_eq!(location.to_string(), "postgres://ann@db.example:5433/hub");
            assert_eq!(format!("{location:?}"), "Database(postgres://ann@db.example:5433/hub)");
        }
        let error = StoreLocation::database("postgres://ann:s3cret@db/hub?pass=s3cret", None).unwrap_err();
        assert!(!format!("{error} {error:?}").contains("s3cret"));
    }

    #[test]
    fn socket_path_is_shown_percent_encoded() {
        let location = StoreLocation::database("host=/run/postgresql user=ann dbname=hub", None).unwrap();
        assert_eq!(location.to_string(), "postgres://ann@%2Frun%2Fpostgresql/hub");
    }

    #[test]
    fn separate_password_is_used_only_if_the_url_has_none() {
        let password = |url| match StoreLocation::database(url, Some("given")).unwrap() {
            StoreLocation::Database(database) => database.config.get_password().map(<[u8]>::to_vec),
            StoreLocation::File(_) => None,
        };
        assert_eq!(password("postgres://ann@db/hub").as_deref(), Some(&b"given"[..]));
        assert_eq!(password("postgres://ann:own@db/hub").as_deref(), Some(&b"own"[..]));
    }

    #[test]
    fn only_postgres_schemes_are_database_urls() {
        assert!(
            StoreLocation::is_database_url("postgres://db/hub")
                && StoreLocation::is_database_url("postgresql://db/hub")
        );
        assert!(
            !StoreLocation::is_database_url("postgres") && !StoreLocation::is_database_url("/srv/postgres:/hub.db")
        );
    }
}
