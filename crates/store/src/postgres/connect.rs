//! Builds connection pools from a database URL.

use std::error::Error;
use std::future::poll_fn;
use std::sync::Arc;
use std::time::Duration;

use deadpool_postgres::{Hook, HookError, Manager, ManagerConfig, Pool, RecyclingMethod, Runtime};
use rustls::ClientConfig;
use rustls_platform_verifier::BuilderVerifierExt;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::mpsc;
use tokio::time::timeout;
use tokio_postgres::config::{Host, SslMode};
use tokio_postgres::{AsyncMessage, Client, Config, Connection, NoTls, Notification};
use tokio_postgres_rustls::MakeRustlsConnect;

use super::database;
use crate::error::StoreError;

/// Three nodes, each with one more connection for LISTEN, stay below PostgreSQL's default limit of 100 connections.
pub const MAX_CONNECTIONS: usize = 23;
/// A separate pool for operations that must not queue behind others.
pub const PRIORITY_CONNECTIONS: usize = 1;
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
/// TCP keepalive: the idle time before the first probe, then the interval between probes.
const KEEPALIVE_IDLE: Duration = Duration::from_secs(5);
const KEEPALIVE_INTERVAL: Duration = Duration::from_secs(2);
const MAX_KEEPALIVE_RETRIES: u32 = 3;
/// The driver's default idle time, which means that the URL does not set one.
const DRIVER_DEFAULT_KEEPALIVE_IDLE: Duration = Duration::from_secs(2 * 60 * 60);
/// Received notifications that are not yet processed. While the buffer is full the connection is not read.
const NOTIFICATION_BUFFER: usize = 256;

/// A hub that stalls inside a transaction must not hold its locks for longer than people notice, and no statement waits
/// without limit. Statements time out before their caller does; scans set a longer timeout of their own.
const SESSION: &str = "SET idle_in_transaction_session_timeout = '1s'; SET lock_timeout = '5s'; \
     SET statement_timeout = '8s'";

/// The connection settings from the URL, with defaults for the rest.
pub fn settings(url: &str) -> Result<Config, StoreError> {
    let mut config: Config = url.parse().map_err(invalid_url)?;
    // PGPASSWORD keeps the password out of the URL, as in PostgreSQL's own programs.
    if config.get_password().is_none()
        && let Ok(password) = std::env::var("PGPASSWORD")
    {
        config.password(password);
    }
    if config.get_application_name().is_none() {
        config.application_name("countersign");
    }
    if config.get_connect_timeout().is_none() {
        config.connect_timeout(CONNECT_TIMEOUT);
    }
    if config.get_tcp_user_timeout().is_none() {
        config.tcp_user_timeout(CONNECT_TIMEOUT);
    }
    if config.get_keepalives_idle() == DRIVER_DEFAULT_KEEPALIVE_IDLE {
        config.keepalives_idle(KEEPALIVE_IDLE);
    }
    if config.get_keepalives_interval().is_none() {
        config.keepalives_interval(KEEPALIVE_INTERVAL);
    }
    if config.get_keepalives_retries().is_none() {
        config.keepalives_retries(MAX_KEEPALIVE_RETRIES);
    }
    Ok(config)
}

/// The error leaves out the URL, which may contain a password.
fn invalid_url(error: tokio_postgres::Error) -> StoreError {
    let cause = error.source().map(ToString::to_string).unwrap_or_default();
    let advice = if cause.contains("sslmode") {
        "use disable, prefer or require; whenever TLS is used, the server's certificate is verified"
    } else {
        "write it as postgres://user@host/name"
    };
    StoreError::Unavailable(format!("the database URL is invalid: {cause}; {advice}"))
}

pub fn pool(config: Config, max_size: usize) -> Result<Pool, StoreError> {
    Pool::builder(manager(config)?)
        .max_size(max_size)
        .runtime(Runtime::Tokio1)
        .wait_timeout(Some(CONNECT_TIMEOUT))
        .create_timeout(Some(CONNECT_TIMEOUT * 2))
        .post_create(Hook::async_fn(|client, _| {
            Box::pin(async move {
                let set = timeout(CONNECT_TIMEOUT, client.batch_execute(SESSION)).await;
                set.map_err(|_elapsed| HookError::message("the database did not respond in time"))?
                    .map_err(HookError::Backend)
            })
        }))
        .build()
        .map_err(|error| StoreError::Unavailable(error.to_string()))
}

/// Uses TLS for every connection that leaves this machine, unless the URL disables it.
pub fn manager(config: Config) -> Result<Manager, StoreError> {
    // `Fast` sends no query when a connection is reused: it would cost a round trip each time, and the driver notices a
    // closed connection by itself.
    let recycling = ManagerConfig {
        recycling_method: RecyclingMethod::Fast,
    };
    if is_plain(&config) {
        return Ok(Manager::from_config(config, NoTls, recycling));
    }
    Ok(Manager::from_config(config, MakeRustlsConnect::new(tls()?), recycling))
}

/// Loading the system's root certificates fails where there are none, so it happens only when TLS is needed.
fn is_plain(config: &Config) -> bool {
    let on_this_machine = config.get_hosts().iter().all(|host| matches!(host, Host::Unix(_)));
    on_this_machine || config.get_ssl_mode() == SslMode::Disable
}

/// One connection outside the pool, with the notifications received on it. The channel closes with the connection.
pub async fn listener(config: &Config) -> Result<(Client, mpsc::Receiver<Notification>), StoreError> {
    let named = |error: tokio_postgres::Error| database::named(&database::shown(config), error.into());
    if is_plain(config) {
        let (client, connection) = config.connect(NoTls).await.map_err(named)?;
        return Ok((client, notifications(connection)));
    }
    let tls = MakeRustlsConnect::new(tls()?);
    let (client, connection) = config.connect(tls).await.map_err(named)?;
    Ok((client, notifications(connection)))
}

fn notifications<S, T>(mut connection: Connection<S, T>) -> mpsc::Receiver<Notification>
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    T: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let (sender, receiver) = mpsc::channel(NOTIFICATION_BUFFER);
    tokio::spawn(async move {
        while let Some(Ok(message)) = poll_fn(|cx| connection.poll_message(cx)).await {
            if let AsyncMessage::Notification(notification) = message
                && sender.send(notification).await.is_err()
            {
                return;
            }
        }
    });
    receiver
}

/// Verifies the server against the system's root certificates whenever TLS is used.
fn tls() -> Result<ClientConfig, StoreError> {
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let verified = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .and_then(BuilderVerifierExt::with_platform_verifier)
        .map_err(|error| StoreError::Unavailable(format!("TLS to the database: {error}")))?;
    Ok(verified.with_no_client_auth())
}
