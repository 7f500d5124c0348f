//! From a URL to a pool of connections.

use std::sync::Arc;
use std::time::Duration;

use deadpool_postgres::{Hook, HookError, Manager, ManagerConfig, Pool, RecyclingMethod, Runtime};
use rustls::ClientConfig;
use rustls_platform_verifier::BuilderVerifierExt;
use tokio_postgres::config::{Host, SslMode};
use tokio_postgres::{Config, NoTls};
use tokio_postgres_rustls::MakeRustlsConnect;

use crate::error::StoreError;

/// Three hubs together stay below the hundred connections that PostgreSQL allows unless told otherwise.
const MOST_CONNECTIONS: usize = 24;
const PATIENCE: Duration = Duration::from_secs(5);

/// A hub that is stopped inside a transaction must not hold its locks against the others, and nobody waits for ever.
const SESSION: &str = "SET idle_in_transaction_session_timeout = '10s'; SET lock_timeout = '5s'; \
     SET statement_timeout = '30s'";

pub fn pool(url: &str) -> Result<Pool, StoreError> {
    let mut config: Config = url.parse()?;
    if config.get_application_name().is_none() {
        config.application_name("countersign");
    }
    if config.get_connect_timeout().is_none() {
        config.connect_timeout(PATIENCE);
    }
    if config.get_tcp_user_timeout().is_none() {
        config.tcp_user_timeout(PATIENCE * 2);
    }
    Pool::builder(manager(config)?)
        .max_size(MOST_CONNECTIONS)
        .runtime(Runtime::Tokio1)
        .wait_timeout(Some(PATIENCE))
        .create_timeout(Some(PATIENCE * 2))
        .post_create(Hook::async_fn(|client, _| {
            Box::pin(async move { client.batch_execute(SESSION).await.map_err(HookError::Backend) })
        }))
        .build()
        .map_err(|error| StoreError::Unavailable(error.to_string()))
}

/// Speaks TLS wherever the way leaves this machine.
pub fn manager(config: Config) -> Result<Manager, StoreError> {
    // Asks nothing of the server when a connection is handed out again: a round trip each time, for what the driver
    // notices by itself when the connection ends.
    let recycling = ManagerConfig { recycling_method: RecyclingMethod::Fast };
    let on_this_machine = config.get_hosts().iter().all(|host| matches!(host, Host::Unix(_)));
    // Only then: reading the machine's roots of trust fails where there are none.
    if on_this_machine || config.get_ssl_mode() == SslMode::Disable {
        return Ok(Manager::from_config(config, NoTls, recycling));
    }
    Ok(Manager::from_config(config, MakeRustlsConnect::new(tls()?), recycling))
}

/// Verifies the server by the machine's own roots of trust, whenever TLS is spoken at all.
fn tls() -> Result<ClientConfig, StoreError> {
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let verified = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .and_then(BuilderVerifierExt::with_platform_verifier)
        .map_err(|error| StoreError::Unavailable(format!("TLS to the database: {error}")))?;
    Ok(verified.with_no_client_auth())
}
