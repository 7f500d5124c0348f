//! `key rotate`: the Ed25519 key the hub signs pushes with.

use anyhow::Result;
use countersign_client::hub::HubClient;
use countersign_client::screen::TextTable;
use countersign_protocol::api::admin::KeysList;
use serde_json::json;

use crate::args::KeyCommand;
use crate::commands::present;

pub async fn run(command: KeyCommand, client: &HubClient, json: bool) -> Result<String> {
    let KeyCommand::Rotate { overlap_seconds } = command;
    let mut body = json!({});
    if let Some(seconds) = overlap_seconds {
        body["overlap_seconds"] = seconds.into();
    }
    let reply = client.post(&["v1", "admin", "keys", "rotate"], &body).await?;
    present(&reply, json, |KeysList { keys }| {
        let mut table = TextTable::new(&["KEY", "ALGORITHM", "PUBLIC KEY", "VALID"]);
        for key in keys {
            let valid = key
                .retires_at
                .map_or_else(|| "now".to_owned(), |at| format!("until {at}"));
            table.row([key.kid, key.alg, key.public_key, valid]);
        }
        table.render_or("The hub has no keys.")
    })
}
