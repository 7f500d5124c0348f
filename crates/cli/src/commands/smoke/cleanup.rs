//! Cleans up after the test: removes its agent and approval, and cancels its open ask.

use anyhow::Result;
use countersign_client::hub::HubClient;
use serde_json::json;

#[derive(Default)]
pub struct Cleanup {
    agent: Option<(HubClient, String)>,
    approval: Option<(HubClient, String, String)>,
    ask: Option<(HubClient, String)>,
}

impl Cleanup {
    pub fn agent_added(&mut self, owner: &HubClient, agent_id: &str) -> Result<()> {
        self.agent = Some((again(owner)?, agent_id.to_owned()));
        Ok(())
    }

    pub fn open_ask(&mut self, agent: &HubClient, id: &str) -> Result<()> {
        self.ask = Some((again(agent)?, id.to_owned()));
        Ok(())
    }

    pub fn resolved(&mut self) {
        self.ask = None;
    }

    pub async fn approve(&mut self, owner: &HubClient, agent_id: &str, host: &str) -> Result<()> {
        let body = json!({ "agent_id": agent_id, "host": host });
        owner.post(&["v1", "admin", "callbacks", "approve"], &body).await?;
        // Removing the agent removes the approval, too.
        if self.agent.is_none() {
            self.approval = Some((again(owner)?, agent_id.to_owned(), host.to_owned()));
        }
        Ok(())
    }

    /// Returns a summary, empty if there was nothing to clean up.
    pub async fn run(self) -> Result<String> {
        let mut done = Vec::new();
        if let Some((agent, id)) = self.ask {
            agent.post(&["v1", "messages", &id, "cancel"], &json!({})).await?;
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

fn again(client: &HubClient) -> Result<HubClient> {
    HubClient::new(client.location().clone())
}
