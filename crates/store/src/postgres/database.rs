//! A PostgreSQL database to open a store on, and the name that errors give it.

use deadpool_postgres::Pool;
use tokio_postgres::Config;
use tokio_postgres::config::Host;

use super::{connect, errors};
use crate::error::StoreError;

const DEFAULT_PORT: u16 = 5432;

pub struct PostgresDatabase {
    pub(super) settings: Config,
    pub(super) pool: Pool,
}

/// A connection that failed.
#[derive(Debug, thiserror::Error)]
#[error("{error}")]
pub struct ConnectError {
    pub error: StoreError,
    /// Whether a later attempt may work without a change of the settings: the server is away, starting or full.
    pub is_transient: bool,
}

impl PostgresDatabase {
    pub fn new(url: &str) -> Result<Self, StoreError> {
        let settings = connect::settings(url)?;
        let pool = connect::pool(settings.clone(), connect::MAX_CONNECTIONS)?;
        Ok(Self { settings, pool })
    }

    /// Makes the first connection, which stays in the pool.
    pub async fn connect(&self) -> Result<(), ConnectError> {
        let connected = self.pool.get().await.map(drop);
        connected.map_err(|error| ConnectError {
            is_transient: errors::is_transient(&error),
            error: named(&shown(&self.settings), error.into()),
        })
    }
}

/// Adds the server to the error of a connection: the driver's message leaves it out.
pub fn named(server: &str, error: StoreError) -> StoreError {
    match error {
        StoreError::Unavailable(cause) => StoreError::Unavailable(format!("{server}: {cause}")),
        StoreError::ConnectionEnded(cause) => StoreError::ConnectionEnded(format!("{server}: {cause}")),
        other => other,
    }
}

/// The server, the database and the user, built from the parts that may be shown.
pub fn shown(config: &Config) -> String {
    let ports = config.get_ports();
    let port = |index: usize| {
        let port = ports.get(index).or_else(|| ports.first().filter(|_| ports.len() == 1));
        port.copied().unwrap_or(DEFAULT_PORT)
    };
    let hosts: Vec<String> = config
        .get_hosts()
        .iter()
        .enumerate()
        .map(|(index, host)| match host {
            Host::Tcp(name) => format!("{name}:{}", port(index)),
            Host::Unix(directory) => format!("{}/.s.PGSQL.{}", directory.display(), port(index)),
        })
        .collect();
    let user = config.get_user();
    let user_shown = user.map(|user| format!(", user {user}")).unwrap_or_default();
    let name = config.get_dbname().or(user);
    let name_shown = name.map(|name| format!(", database {name}")).unwrap_or_default();
    format!("PostgreSQL at {}{name_shown}{user_shown}", hosts.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shown_server_has_its_port_and_no_password() {
        for (url, expected) in [
            (
                "postgres://ann:s3cret@db.example/hub",
                "PostgreSQL at db.example:5432, database hub, user ann",
            ),
            (
                "postgres://ann@db.example:5433?password=s3cret",
                "PostgreSQL at db.example:5433, database ann, user ann",
            ),
            (
                "postgres://a.example:1,b.example:2/hub",
                "PostgreSQL at a.example:1, b.example:2, database hub",
            ),
            (
                "host=/run/postgresql user=ann dbname=hub password=s3cret",
                "PostgreSQL at /run/postgresql/.s.PGSQL.5432, database hub, user ann",
            ),
        ] {
            assert_eq!(shown(&url.parse().unwrap()), expected);
        }
    }
}
