//! Where a store is.

use std::fmt;
use std::path::{Path, PathBuf};

use tokio_postgres::Config;
use tokio_postgres::config::Host;

use super::error::CopyError;

/// A store that can be copied from or to.
#[derive(Debug, Clone)]
pub enum Place {
    /// The file of an embedded store. Whoever copies holds the lock of its directory, so that no hub is at work on it.
    File(PathBuf),
    Database(Box<Database>),
}

#[derive(Clone)]
pub struct Database {
    pub(super) config: Config,
    shown: String,
}

impl Place {
    pub fn file(path: &Path) -> Self {
        Self::File(path.to_owned())
    }

    /// `password` is used where the URL has none: a URL on the command line is there for everybody on the machine to see.
    pub fn database(url: &str, password: Option<&str>) -> Result<Self, CopyError> {
        // Not the parser's own words: they may quote a part of what was meant to be a password.
        let mut config: Config = url.parse().map_err(|_| CopyError::NotAUrl)?;
        if config.get_password().is_none()
            && let Some(password) = password
        {
            config.password(password);
        }
        let shown = shown(&config);
        Ok(Self::Database(Box::new(Database { config, shown })))
    }

    pub fn is_database_url(text: &str) -> bool {
        ["postgres://", "postgresql://"]
            .iter()
            .any(|scheme| text.starts_with(scheme))
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(path) => path.display().fmt(f),
            Self::Database(database) => f.write_str(&database.shown),
        }
    }
}

impl fmt::Debug for Database {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.shown)
    }
}

/// Made of the parts that may be shown, rather than by cutting out the one that may not.
fn shown(config: &Config) -> String {
    let user = config.get_user().map(|user| format!("{user}@")).unwrap_or_default();
    let hosts: Vec<String> = config
        .get_hosts()
        .iter()
        .enumerate()
        .map(|(index, host)| match host {
            Host::Tcp(name) => format!("{name}{}", port(config, index)),
            // As it stands in a URL.
            Host::Unix(path) => path.display().to_string().replace('/', "%2F") + &port(config, index),
        })
        .collect();
    let name = config.get_dbname().or(config.get_user()).unwrap_or_default();
    format!("postgres://{user}{}/{name}", hosts.join(","))
}

/// One for all hosts, or one for each.
fn port(config: &Config, index: usize) -> String {
    let ports = config.get_ports();
    let port = ports.get(index).or_else(|| ports.first().filter(|_| ports.len() == 1));
    port.map(|port| format!(":{port}")).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_password_is_never_shown() {
        for url in [
            "postgres://ann:s3cret@db.example:5433/hub?sslmode=require",
            "postgresql://ann@db.example:5433/hub?password=s3cret",
            "host=db.example port=5433 user=ann dbname=hub password=s3cret",
        ] {
            let place = Place::database(url, Some("an0ther")).unwrap();
            assert_eq!(place.to_string(), "postgres://ann@db.example:5433/hub");
            assert_eq!(format!("{place:?}"), "Database(postgres://ann@db.example:5433/hub)");
        }
        let refused = Place::database("postgres://ann:s3cret@db/hub?pass=s3cret", None).unwrap_err();
        assert!(!format!("{refused} {refused:?}").contains("s3cret"));
    }

    #[test]
    fn a_socket_is_shown_as_a_url_says_it() {
        let place = Place::database("host=/run/postgresql user=ann dbname=hub", None).unwrap();
        assert_eq!(place.to_string(), "postgres://ann@%2Frun%2Fpostgresql/hub");
    }

    #[test]
    fn a_password_from_elsewhere_fills_a_gap_and_nothing_else() {
        let password = |url| match Place::database(url, Some("given")).unwrap() {
            Place::Database(database) => database.config.get_password().map(<[u8]>::to_vec),
            Place::File(_) => None,
        };
        assert_eq!(password("postgres://ann@db/hub").as_deref(), Some(&b"given"[..]));
        assert_eq!(password("postgres://ann:own@db/hub").as_deref(), Some(&b"own"[..]));
    }

    #[test]
    fn only_the_two_schemes_are_urls() {
        assert!(Place::is_database_url("postgres://db/hub") && Place::is_database_url("postgresql://db/hub"));
        assert!(!Place::is_database_url("postgres") && !Place::is_database_url("/srv/postgres:/hub.db"));
    }
}
