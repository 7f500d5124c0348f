//! Agents in terminals, as the hub lists them.

use serde::Deserialize;

use super::TerminalPresence;
use crate::hub::{ClientError, HubClient, typed};
use crate::screen::HubTime;

#[derive(Deserialize)]
pub struct ListedTerminal {
    pub agent_id: String,
    pub runtime: String,
    pub project_dir: String,
    pub terminal: String,
    pub person: String,
    pub joined_at: HubTime,
    pub seen_at: Option<HubTime>,
    pub open: i64,
    pub ahead: i64,
    pub last_cue_id: Option<String>,
    pub presence: TerminalPresence,
}

pub async fn list_terminals(client: &HubClient) -> Result<Vec<ListedTerminal>, ClientError> {
    typed(&client.get_field(&["v1", "terminals"], &[], "terminals").await?)
}
