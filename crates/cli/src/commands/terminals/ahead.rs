//! `ahead`: types a text ahead for an agent's next cue, lists such texts, or takes one back.

use anyhow::Result;
use countersign_client::hub::HubClient;
use countersign_client::screen::{self, TextTable, escape};
use countersign_protocol::api::terminals::{QueuedText, QueuedTextRef};
use serde_json::json;

use crate::args::AheadArgs;
use crate::commands::answer::read_free_text;
use crate::commands::present;

pub async fn run(args: &AheadArgs, client: &HubClient, json: bool) -> Result<String> {
    match (&args.text, args.drop) {
        (Some(text), _) => write(&args.agent_id, &read_free_text(text)?, client, json).await,
        (None, Some(id)) => take_back(&args.agent_id, id, client, json).await,
        (None, None) => list(&args.agent_id, client, json).await,
    }
}

async fn write(agent_id: &str, text: &str, client: &HubClient, json: bool) -> Result<String> {
    let reply = client
        .post(&["v1", "terminals", agent_id, "ahead"], &json!({ "text": text }))
        .await?;
    let waits = if json {
        None
    } else {
        open_question(agent_id, client).await
    };
    present(&reply, json, |typed: QueuedTextRef| {
        let agent_id = escape(agent_id);
        let waits = waits.map(|id| {
            let id = escape(&id);
            format!("It waits for an answer to {id} right now; `countersign answer {id}` gives that one.\n")
        });
        format!(
            "{agent_id} gets it when it asks next. `countersign ahead {agent_id} --drop {}` takes it back.\n{}",
            typed.id,
            waits.unwrap_or_default()
        )
    })
}

/// The cue the agent waits for now, as a hint: the person may have meant to answer it. The text is stored anyway.
async fn open_question(agent_id: &str, client: &HubClient) -> Option<String> {
    let terminals = client.terminals().await.ok()?;
    let terminal = terminals.into_iter().find(|terminal| terminal.agent_id == agent_id)?;
    let is_there = matches!(terminal.presence.state.as_deref(), Some("waiting" | "paused"));
    terminal.last_cue_id.filter(|_| is_there)
}

async fn take_back(agent_id: &str, id: i64, client: &HubClient, json: bool) -> Result<String> {
    client
        .post(
            &["v1", "terminals", agent_id, "ahead", &id.to_string(), "drop"],
            &json!({}),
        )
        .await?;
    if json {
        return Ok(screen::json(&json!({ "id": id })));
    }
    Ok(format!("{} does not get text {id}.\n", escape(agent_id)))
}

async fn list(agent_id: &str, client: &HubClient, json: bool) -> Result<String> {
    let reply = client
        .get_field(&["v1", "terminals", agent_id, "ahead"], &[], "ahead")
        .await?;
    present(&reply, json, |waiting: Vec<QueuedText>| {
        let mut table = TextTable::new(&["NUMBER", "PERSON", "WRITTEN", "TEXT"]);
        for one in waiting {
            table.row([one.id.to_string(), one.person, one.created_at.to_string(), one.text]);
        }
        table.render_or("No text waits for its next question.")
    })
}
