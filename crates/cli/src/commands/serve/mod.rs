//! `serve`: runs the hub until a stop signal.

mod greeting;
mod log;
mod log_file;
mod log_format;
#[cfg(feature = "otel")]
mod span_export;

use std::path::PathBuf;

use anyhow::{Context, Result};
use countersign_config::{Config, ConfigFile, Overrides, Secret, TlsFiles, own_lan_address};
use countersign_hub::process::FailedForGood;
use countersign_hub::serve::{ServeOptions, run as run_hub};
use countersign_store::StoreError;
use tokio::signal::unix::{SignalKind, signal};

use crate::args::ServeArgs;
use log::LogOptions;

pub use greeting::GreetingStyle;

/// Not clap's `env`, because other commands may have the variable in their environment and ignore it.
const DATABASE_URL: &str = "COUNTERSIGN_DATABASE_URL";

pub async fn run(args: ServeArgs, data: PathBuf, style: GreetingStyle) -> Result<()> {
    let file = args
        .config
        .as_deref()
        .map(ConfigFile::read)
        .transpose()?
        .unwrap_or_default();
    let _log = log::start(&LogOptions::new(args.log_file, &args.log, &file.log))?;
    if args.detached {
        detach()?;
    }
    let tls = args
        .tls_cert
        .zip(args.tls_key)
        .map(|(cert, key)| TlsFiles { cert, key });
    let lan = match args.lan {
        Some(Some(address)) => Some(address),
        Some(None) => Some(own_lan_address()?),
        None => None,
    };
    let flags = Overrides {
        listen: args.listen,
        public_url: args.public_url,
        lan,
        database_url: args
            .database_url
            .or_else(|| std::env::var(DATABASE_URL).ok())
            .map(Secret::new),
        wait_for_database: args.wait_for_database,
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
    let options = ServeOptions {
        config,
        data,
        pages,
        accept_data_loss: args.accept_data_loss,
        greet: Box::new(move |greeting| greeting::text(greeting, &style)),
    };
    run_hub(options, stop).await
}

/// `sysexits.h` has these numbers: 70 is a software error, 65 an error in the data.
pub fn exit_code(error: &anyhow::Error) -> u8 {
    match error.downcast_ref() {
        Some(StoreError::DataLoss(_)) => 65,
        _ if error.is::<FailedForGood>() => 70,
        _ => 1,
    }
}

/// Starts a session without a terminal, so that neither Ctrl-C nor closing the window reaches the hub.
fn detach() -> Result<()> {
    let is_alone = || nix::unistd::getsid(None).is_ok_and(|session| session == nix::unistd::getpid());
    match rustix::process::setsid() {
        Ok(_) => Ok(()),
        Err(_) if is_alone() => Ok(()),
        Err(error) => Err(error).context("cannot leave the terminal; start it from a script, or with `setsid`"),
    }
}

#[cfg(test)]
mod tests {
    use countersign_store::DataLoss;

    use super::*;

    #[test]
    fn a_supervisor_can_tell_failures_apart_by_their_code() {
        let lost = StoreError::DataLoss(DataLoss::Messages { last: 1, marked: 2 });
        assert_eq!(
            exit_code(&anyhow::Error::from(lost).context("cannot open the database")),
            65
        );
        assert_eq!(exit_code(&FailedForGood("expiry").into()), 70);
        assert_eq!(exit_code(&anyhow::anyhow!("the port is taken")), 1);
    }
}
