//! `serve`: runs the hub until a stop signal.

use std::io::IsTerminal;
use std::path::PathBuf;

use anyhow::{Context, Result};
use countersign_hub::config::{Config, ConfigFile, Overrides, Secret, TlsFiles};
use countersign_hub::serve::{ServeOptions, run as run_hub};
use tokio::signal::unix::{SignalKind, signal};
use tracing_subscriber::EnvFilter;

use crate::args::ServeArgs;

/// Not clap's `env`, because other commands may have the variable in their environment and ignore it.
const DATABASE_URL: &str = "COUNTERSIGN_DATABASE_URL";

pub async fn run(args: ServeArgs, data: PathBuf) -> Result<()> {
    log_to_stderr();
    if args.detached {
        detach()?;
    }
    let file = args
        .config
        .as_deref()
        .map(ConfigFile::read)
        .transpose()?
        .unwrap_or_default();
    let tls = args
        .tls_cert
        .zip(args.tls_key)
        .map(|(cert, key)| TlsFiles { cert, key });
    let flags = Overrides {
        listen: args.listen,
        public_url: args.public_url,
        database_url: args
            .database_url
            .or_else(|| std::env::var(DATABASE_URL).ok())
            .map(Secret::new),
        trusted_proxies: args.trusted_proxies,
        tls,
        allow_plain_http: args.allow_plain_http,
        allow_loopback_callbacks: args.allow_loopback_callbacks,
    };
    let config = Config::resolve(file, flags)?;
    let mut interrupt = signal(SignalKind::interrupt()).context("cannot listen for Ctrl-C")?;
    let mut terminate = signal(SignalKind::terminate()).context("cannot listen for SIGTERM")?;
    let stop = async move {
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
        }
    };
    let pages = countersign_web::PAGES;
    run_hub(ServeOptions { config, data, pages }, stop).await
}

/// Starts a session without a terminal, so that neither Ctrl-C nor closing the window reaches the hub.
fn detach() -> Result<()> {
    let is_alone = || rustix::process::getsid(None).is_ok_and(|session| session == rustix::process::getpid());
    match rustix::process::setsid() {
        Ok(_) => Ok(()),
        Err(_) if is_alone() => Ok(()),
        Err(error) => Err(error).context("cannot leave the terminal; start it from a script, or with `setsid`"),
    }
}

/// Logs hold only ids and codes; `RUST_LOG` sets the level.
fn log_to_stderr() {
    let filter = EnvFilter::try_from_default_env().unwrap_or_else(|_| EnvFilter::new("warn"));
    // These crates would trace the full content of sockets and database statements.
    let silenced = ["tungstenite=warn", "tokio_tungstenite=warn", "tokio_postgres=warn"];
    let silenced = silenced.into_iter().flat_map(str::parse);
    let filter = silenced.fold(filter, EnvFilter::add_directive);
    tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_ansi(std::io::stderr().is_terminal())
        .with_writer(std::io::stderr)
        .init();
}
