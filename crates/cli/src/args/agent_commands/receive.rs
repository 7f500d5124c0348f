//! `receive` and `verify`: the keys and headers needed to check a pushed answer.

use std::net::SocketAddr;

use clap::{ArgGroup, Args};
use countersign_agent::Timestamp;

use super::{ExecArgs, When};

#[derive(Debug, Clone, Args)]
pub struct KeyArgs {
    /// The environment variable with the signing key, or with two of them separated by a space while they are rotated
    /// [default: COUNTERSIGN_SIGNING_KEY, else the key kept for the agent]
    #[arg(long, value_name = "NAME")]
    pub key_env: Option<String>,
    /// For an agent whose answers are signed with Ed25519: the hub's public key, or `hub` to ask the hub for its keys.
    #[arg(long, value_name = "KEY|hub", conflicts_with = "key_env", allow_hyphen_values = true)]
    pub ed25519: Option<String>,
    /// The agent [default: $COUNTERSIGN_AGENT, else `cli`]
    #[arg(long, value_name = "ID")]
    pub agent: Option<String>,
}

#[derive(Debug, Args)]
pub struct VerifyArgs {
    /// The callback address, exactly as it was given when asking.
    #[arg(long, value_name = "URL")]
    pub url: String,
    /// A header of the request that brought it, such as 'A2H-Signature: …'; repeat for more.
    #[arg(long = "header", value_name = "NAME: VALUE", required = true, value_parser = header)]
    pub headers: Vec<(String, String)>,
    /// Check it as of another instant: for a delivery that was recorded.
    #[arg(long, value_name = "INSTANT", value_parser = instant)]
    pub at: Option<Timestamp>,
    #[command(flatten)]
    pub keys: KeyArgs,
}

#[derive(Debug, Args)]
#[command(group = ArgGroup::new("act").required(true).args(["words"]))]
pub struct ReceiveArgs {
    /// Where to listen.
    #[arg(long, value_name = "ADDR")]
    pub listen: SocketAddr,
    /// The callback address, exactly as it is given when asking [default: the address it listens on]
    #[arg(long, value_name = "URL")]
    pub url: Option<String>,
    /// The path that deliveries come in by [default: that of --url, else /]
    #[arg(long, value_name = "PATH")]
    pub path: Option<String>,
    #[command(flatten)]
    pub keys: KeyArgs,
    #[command(flatten)]
    pub exec: ExecArgs,
}

fn header(text: &str) -> Result<(String, String), String> {
    let (name, value) = text.split_once(':').ok_or("write it as 'NAME: VALUE'")?;
    Ok((name.trim().to_owned(), value.trim().to_owned()))
}

fn instant(text: &str) -> Result<Timestamp, String> {
    match When::read(text) {
        Ok(When::At(at)) => Ok(at),
        Ok(When::In(_)) | Err(_) => Err("write it as 2026-06-04T15:48:30Z".to_owned()),
    }
}
