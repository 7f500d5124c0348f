//! `agent add|list|rename|rotate|remove`.

use anyhow::Result;
use countersign_client::hub::{AddressSource, HubClient, typed};
use countersign_client::screen::{self, TextTable, escape};
use countersign_protocol::api::admin::{AgentRef, IssuedCredentials, ListedAgent, RenamedAgent};
use serde_json::{Value, json};

use super::callback;
use crate::args::{AgentCommand, SignatureAlgArg};
use crate::commands::agent_commands::credentials::stored_agent::StoredAgent;
use crate::commands::present;

pub async fn run(command: AgentCommand, client: &HubClient, json: bool) -> Result<String> {
    match command {
        AgentCommand::Add {
            id,
            signature_alg,
            reuse,
        } => add(&id, signature_alg, reuse, client, json).await,
        AgentCommand::List => list(client, json).await,
        AgentCommand::Rename { id, name } => rename(&id, &name, client, json).await,
        AgentCommand::Rotate { id, overlap_seconds } => rotate(&id, overlap_seconds, client, json).await,
        AgentCommand::Remove { id } => remove(&id, client, json).await,
        AgentCommand::Callback(command) => callback::run(command, client, json).await,
    }
}

pub async fn add(
    id: &str,
    alg: Option<SignatureAlgArg>,
    reuse: bool,
    client: &HubClient,
    json: bool,
) -> Result<String> {
    let mut body = new_account("id", id, reuse);
    if let Some(alg) = alg {
        body["signature_alg"] = alg.as_str().into();
    }
    let reply = client.post(&["v1", "admin", "agents"], &body).await?;
    present(&reply, json, |made: IssuedCredentials| {
        format!("Agent {} added.\n\n{}", escape(&made.agent_id), secrets(&made))
    })
}

/// `reuse` is sent only when it is set: older hubs refuse unknown fields.
pub fn new_account(field: &str, name: &str, reuse: bool) -> Value {
    let mut body = json!({ field: name });
    if reuse {
        body["reuse"] = true.into();
    }
    body
}

const ROTATION_ORDER: &str = "Give the receiver of pushes both keys first: the first call with the new token retires the old key. A credential that is \
     stored on this machine has been renewed, so the next command of the agent here is such a call.";

async fn rotate(id: &str, overlap_seconds: Option<u64>, client: &HubClient, json: bool) -> Result<String> {
    let mut body = json!({ "id": id });
    if let Some(seconds) = overlap_seconds {
        body["overlap_seconds"] = seconds.into();
    }
    let reply = client.post(&["v1", "admin", "agents", "rotate"], &body).await?;
    renew_stored(&reply, client);
    present(&reply, json, |made: IssuedCredentials| {
        let until = made.old_valid_until.as_ref();
        let until = until
            .map(|at| format!(" The old token is valid until {at}.\n{ROTATION_ORDER}"))
            .unwrap_or_default();
        format!(
            "Agent {} has a new token and signing key.{until}\n\n{}",
            escape(&made.agent_id),
            secrets(&made)
        )
    })
}

/// Updates the stored credential on the hub's own machine, so that agent commands keep working. A failure is only
/// reported: the new secrets must still be shown, because the hub does not return them again.
fn renew_stored(reply: &Value, client: &HubClient) {
    let AddressSource::DataDirectory(data) = &client.location().source else {
        return;
    };
    let renewed = typed::<StoredAgent>(reply)
        .map_err(Into::into)
        .and_then(|made| made.renew(data));
    if let Err(error) = renewed {
        screen::print_error(&format!("{error:#}"));
    }
}

fn secrets(made: &IssuedCredentials) -> String {
    format!(
        "  token        {}\n  signing key  {}\n\nKeep them now: they are not shown again.\n",
        escape(&made.token),
        escape(&made.signing_key)
    )
}

async fn list(client: &HubClient, json: bool) -> Result<String> {
    let reply = client.get_field(&["v1", "admin", "agents"], &[], "agents").await?;
    present(&reply, json, |agents: Vec<ListedAgent>| {
        let mut table = TextTable::new(&[
            "AGENT",
            "NAME",
            "SIGNED WITH",
            "TOKENS",
            "SIGNING KEYS",
            "OPEN",
            "ADDED",
        ]);
        for agent in agents {
            let counts = [agent.tokens, agent.signing_keys, agent.open].map(|count| count.to_string());
            let [tokens, keys, open] = counts;
            table.row([
                agent.agent_id,
                agent.name,
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

async fn rename(id: &str, name: &str, client: &HubClient, json: bool) -> Result<String> {
    let body = json!({ "id": id, "name": name });
    let reply = client.post(&["v1", "admin", "agents", "rename"], &body).await?;
    present(&reply, json, |agent: RenamedAgent| {
        format!("Agent {} is called {}.\n", escape(&agent.agent_id), escape(&agent.name))
    })
}

async fn remove(id: &str, client: &HubClient, json: bool) -> Result<String> {
    let reply = client
        .post(&["v1", "admin", "agents", "remove"], &json!({ "id": id }))
        .await?;
    present(&reply, json, |gone: AgentRef| {
        format!("Agent {} removed.\n", escape(&gone.agent_id))
    })
}
