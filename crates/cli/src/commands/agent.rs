//! `agent add|list|rotate|remove`.

use anyhow::Result;
use serde::Deserialize;
use serde_json::{Value, json};

use super::agent_side::kept::KeptAgent;
use super::{callback, present};
use crate::args::{AgentCommand, SignatureAlg};
use crate::client::{Client, Place, typed};
use crate::screen::{self, Instant, Table, escape};

#[derive(Deserialize)]
struct Credentials {
    agent_id: String,
    token: String,
    signing_key: String,
    old_valid_until: Option<Instant>,
}

#[derive(Deserialize)]
struct Agent {
    agent_id: String,
    signature_alg: String,
    created_at: Instant,
    tokens: u64,
    signing_keys: u64,
    open: u64,
}

#[derive(Deserialize)]
struct Removed {
    agent_id: String,
}

pub async fn run(command: AgentCommand, client: &Client, json: bool) -> Result<String> {
    match command {
        AgentCommand::Add { id, signature_alg } => add(&id, signature_alg, client, json).await,
        AgentCommand::List => list(client, json).await,
        AgentCommand::Rotate { id, overlap_seconds } => rotate(&id, overlap_seconds, client, json).await,
        AgentCommand::Remove { id } => remove(&id, client, json).await,
        AgentCommand::Callback(command) => callback::run(command, client, json).await,
    }
}

async fn add(id: &str, alg: Option<SignatureAlg>, client: &Client, json: bool) -> Result<String> {
    let mut body = json!({ "id": id });
    if let Some(alg) = alg {
        body["signature_alg"] = alg.as_str().into();
    }
    let reply = client.post(&["v1", "admin", "agents"], &body).await?;
    present(&reply, json, |made: Credentials| {
        format!("Agent {} added.\n\n{}", escape(&made.agent_id), secrets(&made))
    })
}

async fn rotate(id: &str, overlap_seconds: Option<u64>, client: &Client, json: bool) -> Result<String> {
    let mut body = json!({ "id": id });
    if let Some(seconds) = overlap_seconds {
        body["overlap_seconds"] = seconds.into();
    }
    let reply = client.post(&["v1", "admin", "agents", "rotate"], &body).await?;
    renew_kept(&reply, client);
    present(&reply, json, |made: Credentials| {
        let until = made.old_valid_until.as_ref();
        let until = until
            .map(|at| format!(" The old ones are valid until {at}."))
            .unwrap_or_default();
        format!(
            "Agent {} has a new token and signing key.{until}\n\n{}",
            escape(&made.agent_id),
            secrets(&made)
        )
    })
}

/// On the hub's own machine the commands of an agent go on by themselves. Where that fails, the new secrets must be shown
/// all the same: the hub does not tell them again.
fn renew_kept(reply: &Value, client: &Client) {
    let Place::DataDirectory(data) = &client.location().place else {
        return;
    };
    let renewed = typed::<KeptAgent>(reply)
        .map_err(Into::into)
        .and_then(|made| made.renew(data));
    if let Err(error) = renewed {
        screen::complain(&format!("{error:#}"));
    }
}

fn secrets(made: &Credentials) -> String {
    format!(
        "  token        {}\n  signing key  {}\n\nKeep them now: they are not shown again.\n",
        escape(&made.token),
        escape(&made.signing_key)
    )
}

async fn list(client: &Client, json: bool) -> Result<String> {
    let reply = client.get_field(&["v1", "admin", "agents"], &[], "agents").await?;
    present(&reply, json, |agents: Vec<Agent>| {
        let mut table = Table::new(&["AGENT", "SIGNED WITH", "TOKENS", "SIGNING KEYS", "OPEN", "ADDED"]);
        for agent in agents {
            let counts = [agent.tokens, agent.signing_keys, agent.open].map(|count| count.to_string());
            let [tokens, keys, open] = counts;
            table.row([
                agent.agent_id,
                agent.signature_alg,
                tokens,
                keys,
                open,
                agent.created_at.to_string(),
            ]);
        }
        table.render_or("No agents yet: add one with `countersign agent add ID`.")
    })
}

async fn remove(id: &str, client: &Client, json: bool) -> Result<String> {
    let reply = client
        .post(&["v1", "admin", "agents", "remove"], &json!({ "id": id }))
        .await?;
    present(&reply, json, |gone: Removed| {
        format!("Agent {} removed.\n", escape(&gone.agent_id))
    })
}
