//! `receive`: a callback receiver that verifies each push and runs a command for it, once.

mod command;
mod owner_check;
mod receiver;
mod reply;
mod server;
mod verifier;

use std::sync::Arc;

use anyhow::{Context, Result, bail};
use countersign_client::screen;
use owner_check::OwnerCheck;
use receiver::PushReceiver;
use reqwest::Url;
use serde_json::json;
use tokio::net::TcpListener;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::watch;
use verifier::PushVerifier;

use super::credentials::keys;
use super::credentials::session::open_journal;
use crate::args::{Globals, ReceiveArgs};
use crate::commands::Finished;

/// The number of stop signals received so far.
type StopCount = watch::Receiver<u8>;

pub async fn run(args: &ReceiveArgs, globals: &Globals) -> Result<Finished> {
    command::check(&args.exec)?;
    keys::refuse_weak(&args.keys, globals)?;
    let own = OwnerCheck::find(&args.keys, globals)?;
    let stop_count = count_stop_signals()?;
    let listener = TcpListener::bind(args.listen)
        .await
        .with_context(|| format!("cannot listen on {}", args.listen))?;
    let base = format!("http://{}", listener.local_addr()?);
    let (url, path) = callback_url_and_path(args, &base)?;
    let trust = PushVerifier::new(url, args.keys.clone(), globals.clone()).await?;
    let journal = open_journal(globals)?;
    let exec = args.exec.clone();
    let json = globals.json;
    screen::print(&listening(&format!("{base}{path}"), json))?;
    let receiver = PushReceiver::new((trust, own), journal, exec, path, stop_count.clone(), json);
    let mut second = stop_count.clone();
    tokio::select! {
        () = server::serve(listener, Arc::new(receiver), stop_count) => Ok(Finished::silent()),
        _ = second.wait_for(|stop_count| *stop_count > 1) => {
            bail!("stopped immediately: a command that was running shows as interrupted in `countersign journal`")
        }
    }
}

fn listening(address: &str, json: bool) -> String {
    if json {
        return screen::json(&json!({ "listening": address }));
    }
    format!("listening on {}\n", screen::escape(address))
}

/// The first Ctrl-C or SIGTERM lets a running command finish; the second stops at once.
fn count_stop_signals() -> Result<StopCount> {
    let mut interrupt = signal(SignalKind::interrupt()).context("cannot listen for Ctrl-C")?;
    let mut terminate = signal(SignalKind::terminate()).context("cannot listen for SIGTERM")?;
    let (sender, stop_count) = watch::channel(0);
    tokio::spawn(async move {
        loop {
            tokio::select! {
                _ = interrupt.recv() => {}
                _ = terminate.recv() => {}
            }
            sender.send_modify(|stop_count: &mut u8| *stop_count = stop_count.saturating_add(1));
        }
    });
    Ok(stop_count)
}

/// The callback address, byte for byte as it is signed, and the path that pushes arrive on.
fn callback_url_and_path(args: &ReceiveArgs, own: &str) -> Result<(String, String)> {
    let path = match (&args.path, &args.url) {
        (Some(path), _) if !path.starts_with('/') => bail!("--path starts with a slash"),
        (Some(path), _) => path.clone(),
        (None, Some(url)) => Url::parse(url)
            .with_context(|| format!("--url: {url} is not an address"))?
            .path()
            .to_owned(),
        (None, None) => "/".to_owned(),
    };
    Ok((args.url.clone().unwrap_or_else(|| format!("{own}{path}")), path))
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Debug, Parser)]
    struct Line {
        #[command(flatten)]
        receive: ReceiveArgs,
    }

    fn placed(args: &str) -> Result<(String, String)> {
        let args = format!("receive --listen 127.0.0.1:0 {args} --exec true");
        callback_url_and_path(
            &Line::try_parse_from(args.split_whitespace()).unwrap().receive,
            "http://127.0.0.1:7",
        )
    }

    #[test]
    fn the_path_is_that_of_the_callback_unless_it_is_named() {
        let pair = |url: &str, path: &str| (url.to_owned(), path.to_owned());
        assert_eq!(placed("").unwrap(), pair("http://127.0.0.1:7/", "/"));
        assert_eq!(
            placed("--path /hook").unwrap(),
            pair("http://127.0.0.1:7/hook", "/hook")
        );
        let url = "https://bot.example/a2h/resume?run=1";
        assert_eq!(placed(&format!("--url {url}")).unwrap(), pair(url, "/a2h/resume"));
        assert_eq!(placed(&format!("--url {url} --path /x")).unwrap(), pair(url, "/x"));
        assert!(placed("--path hook").is_err());
        assert!(placed("--url bot.example").is_err());
    }

    #[test]
    fn a_receiver_without_a_command_is_a_usage_error() {
        let error = Line::try_parse_from(["receive", "--listen", "127.0.0.1:0"]).unwrap_err();
        assert_eq!(error.exit_code(), 2);
    }
}
