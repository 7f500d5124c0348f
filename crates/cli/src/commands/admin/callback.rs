//! `agent callback add|approve|list|remove`.

use anyhow::Result;
use countersign_client::hub::{ClientError, HubClient};
use countersign_client::screen::{TextTable, escape};
use countersign_protocol::api::admin::ListedCallback;
use serde_json::{Value, json};

use crate::args::CallbackCommand;
use crate::commands::present;

pub async fn run(command: CallbackCommand, client: &HubClient, json: bool) -> Result<String> {
    match command {
        CallbackCommand::Add { agent, host } => {
            let path = ["v1", "admin", "callbacks"];
            change(&path, &agent, &host, client, json).await
        }
        CallbackCommand::Approve { agent, host } => {
            let path = ["v1", "admin", "callbacks", "approve"];
            change(&path, &agent, &host, client, json).await
        }
        CallbackCommand::Remove { agent, host } => {
            let path = ["v1", "admin", "callbacks", "remove"];
            change(&path, &agent, &host, client, json).await
        }
        CallbackCommand::List { agent } => show_list(agent.as_deref(), client, json).await,
    }
}

async fn change(path: &[&str], agent: &str, host: &str, client: &HubClient, json: bool) -> Result<String> {
    let reply = client.post(path, &json!({ "agent_id": agent, "host": host })).await?;
    present(&reply, json, |callback: ListedCallback| callback_text(&callback))
}

fn callback_text(callback: &ListedCallback) -> String {
    let agent = escape(&callback.agent_id);
    let host = escape(&callback.host);
    match callback.state.as_deref() {
        Some("pending") => format!(
            "{host} waits for approval for {agent}: approve it with `countersign agent callback approve AGENT HOST`.\n"
        ),
        Some("approved") => format!("{host} is approved for {agent}.\n"),
        Some(state) => format!("{host} is {} for {agent}.\n", escape(state)),
        None => format!("{host} is removed from {agent}.\n"),
    }
}

/// The registered hosts of one agent, or of all.
pub async fn list(agent: Option<&str>, client: &HubClient) -> Result<Value, ClientError> {
    let query: Vec<(&str, &str)> = agent.map(|agent| ("agent_id", agent)).into_iter().collect();
    client
        .get_field(&["v1", "admin", "callbacks"], &query, "callbacks")
        .await
}

async fn show_list(agent: Option<&str>, client: &HubClient, json: bool) -> Result<String> {
    let reply = list(agent, client).await?;
    present(&reply, json, |callbacks: Vec<ListedCallback>| {
        let mut table = TextTable::new(&["AGENT", "HOST", "STATE"]);
        for callback in callbacks {
            table.row([callback.agent_id, callback.host, callback.state.unwrap_or_default()]);
        }
        table.render_or("No callback hosts yet.")
    })
}
