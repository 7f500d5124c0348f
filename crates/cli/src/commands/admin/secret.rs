//! `secret set|list|remove`. Values are written and never read back.

use std::io::{self, Read};

use anyhow::{Context, Result, bail};
use countersign_client::hub::HubClient;
use countersign_client::screen::{TextTable, escape};
use countersign_protocol::api::admin::{AgentSecret, ListedSecret};
use serde_json::json;

use crate::args::SecretCommand;
use crate::commands::present;

/// Above any token or key; a file given by mistake is not read completely.
const MAX_SECRET_BYTES: u64 = 64 * 1024;

pub async fn run(command: SecretCommand, client: &HubClient, json: bool) -> Result<String> {
    match command {
        SecretCommand::Set { agent, name, value } => {
            let value = value.map_or_else(|| read_value(io::stdin().lock()), Ok)?;
            let body = json!({ "agent_id": agent, "name": name, "value": value });
            let reply = client.post(&["v1", "admin", "secrets"], &body).await?;
            present(&reply, json, |secret: AgentSecret| secret_text("stored", &secret))
        }
        SecretCommand::Remove { agent, name } => {
            let body = json!({ "agent_id": agent, "name": name });
            let reply = client.post(&["v1", "admin", "secrets", "remove"], &body).await?;
            present(&reply, json, |secret: AgentSecret| secret_text("removed", &secret))
        }
        SecretCommand::List { agent } => list(agent.as_deref(), client, json).await,
    }
}

fn secret_text(done: &str, secret: &AgentSecret) -> String {
    format!(
        "Secret {} of {} {done}.\n",
        escape(&secret.name),
        escape(&secret.agent_id)
    )
}

fn read_value(input: impl Read) -> Result<String> {
    let mut value = String::new();
    input
        .take(MAX_SECRET_BYTES + 1)
        .read_to_string(&mut value)
        .context("the secret on standard input is not text")?;
    if value.len() as u64 > MAX_SECRET_BYTES {
        bail!("the secret on standard input is longer than {MAX_SECRET_BYTES} bytes");
    }
    // Only one line ending is removed: the rest may be part of the secret.
    if value.ends_with('\n') {
        value.pop();
        if value.ends_with('\r') {
            value.pop();
        }
    }
    if value.is_empty() {
        bail!("the secret on standard input is empty");
    }
    Ok(value)
}

async fn list(agent: Option<&str>, client: &HubClient, json: bool) -> Result<String> {
    let query: Vec<(&str, &str)> = agent.map(|agent| ("agent_id", agent)).into_iter().collect();
    let reply = client.get_field(&["v1", "admin", "secrets"], &query, "secrets").await?;
    present(&reply, json, |secrets: Vec<ListedSecret>| {
        let mut table = TextTable::new(&["AGENT", "NAME", "STORED"]);
        for secret in secrets {
            table.row([secret.agent_id, secret.name, secret.created_at.to_string()]);
        }
        table.render_or("No secrets yet.")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_line_ending_is_not_part_of_the_secret() {
        for (input, value) in [
            ("s3cret", "s3cret"),
            ("s3cret\n", "s3cret"),
            ("s\r\n", "s"),
            (" s \n\n", " s \n"),
        ] {
            assert_eq!(read_value(input.as_bytes()).unwrap(), value);
        }
    }

    #[test]
    fn empty_binary_and_endless_input_is_refused() {
        assert!(read_value("\n".as_bytes()).is_err());
        assert!(read_value([0xff].as_slice()).is_err());
        assert!(read_value(io::repeat(b'x')).is_err());
    }
}
