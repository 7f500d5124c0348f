//! `key rotate`: the Ed25519 key the hub signs pushes with.

use anyhow::Result;
use serde::Deserialize;
use serde_json::json;

use super::present;
use crate::args::KeyCommand;
use crate::client::Client;
use crate::screen::{Instant, Table};

#[derive(Deserialize)]
struct Keys {
    keys: Vec<Key>,
}

#[derive(Deserialize)]
struct Key {
    kid: String,
    alg: String,
    public_key: String,
    retires_at: Option<Instant>,
}

pub async fn run(command: KeyCommand, client: &Client, json: bool) -> Result<String> {
    let KeyCommand::Rotate { overlap_seconds } = command;
    let mut body = json!({});
    if let Some(seconds) = overlap_seconds {
        body["overlap_seconds"] = seconds.into();
    }
    let reply = client.post(&["v1", "admin", "keys", "rotate"], &body).await?;
    present(&reply, json, |Keys { keys }| {
        let mut table = Table::new(&["KEY", "ALGORITHM", "PUBLIC KEY", "VALID"]);
        for key in keys {
            let valid = key
                .retires_at
                .map_or_else(|| "now".to_owned(), |at| format!("until {at}"));
            table.row([key.kid, key.alg, key.public_key, valid]);
        }
        table.render_or("The hub has no keys.")
    })
}
