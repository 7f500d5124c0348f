//! What the test leaves behind on the hub unless it is taken back: an agent, an approval, an ask that nobody needs.

use anyhow::Result;
use countersign_agent::{Hub, Kind, Ticket};
use serde_json::json;

use crate::client::Client;

#[derive(Default)]
pub struct Debts {
    agent: Option<(Client, String)>,
    approval: Option<(Client, String, String)>,
    /// Open until somebody has resolved it.
    pub ticket: Option<(Hub, Ticket)>,
}

impl Debts {
    pub fn agent_added(&mut self, owner: &Client, agent_id: &str) -> Result<()> {
        self.agent = Some((again(owner)?, agent_id.to_owned()));
        Ok(())
    }

    pub async fn approve(&mut self, owner: &Client, agent_id: &str, host: &str) -> Result<()> {
        let body = json!({ "agent_id": agent_id, "host": host });
        owner.post(&["v1", "admin", "callbacks", "approve"], &body).await?;
        // With its agent the approval goes too.
        if self.agent.is_none() {
            self.approval = Some((again(owner)?, agent_id.to_owned(), host.to_owned()));
        }
        Ok(())
    }

    /// Says what was taken back, or nothing when there was nothing.
    pub async fn settle(self) -> Result<String> {
        let mut done = Vec::new();
        if let Some((hub, ticket)) = self.ticket.filter(|(_, ticket)| ticket.kind == Kind::Ask) {
            hub.cancel(&ticket).await?;
            done.push("the ask is cancelled".to_owned());
        }
        if let Some((owner, agent_id, host)) = self.approval {
            let body = json!({ "agent_id": agent_id, "host": host });
            owner.post(&["v1", "admin", "callbacks", "remove"], &body).await?;
            done.push(format!("{host} is no longer approved for {agent_id}"));
        }
        if let Some((owner, agent_id)) = self.agent {
            owner
                .post(&["v1", "admin", "agents", "remove"], &json!({ "id": agent_id }))
                .await?;
            done.push(format!("{agent_id} is removed"));
        }
        Ok(done.join(", "))
    }
}

fn again(client: &Client) -> Result<Client> {
    Client::new(client.location().clone())
}
