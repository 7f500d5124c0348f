//! One agent of the demo: added for it, removed after it.

use std::cell::RefCell;

use anyhow::Result;
use countersign_agent::{Client, Draft, Identity, Journal, Kind, Notify, Outcome, Progress, Ticket, WaitUntil};
use countersign_client::hub::{HubClient, typed};
use countersign_client::screen;
use countersign_protocol::api::admin::IssuedCredentials;
use serde_json::json;

use super::scenes::SceneMessage;
use crate::commands::agent_commands::{now, outcome};

pub struct DemoAgent {
    pub id: String,
    identity: Identity,
    client: Client,
    journal: Journal,
    /// The message that waits for an answer.
    open: RefCell<Option<Ticket>>,
}

impl DemoAgent {
    /// Adds the agent. One that an interrupted demo left behind gets a new token.
    pub async fn add(id: &str, project: &str, owner: &HubClient, journal: &Journal) -> Result<Self> {
        let body = json!({ "id": id, "reuse": true });
        let reply = match owner.post(&["v1", "admin", "agents"], &body).await {
            Err(error) if error.has_code("already_exists") => {
                owner
                    .post(&["v1", "admin", "agents", "rotate"], &json!({ "id": id }))
                    .await?
            }
            other => other?,
        };
        let made: IssuedCredentials = typed(&reply)?;
        let location = owner.location();
        let mut identity = Identity::new(id);
        identity.project = Some(project.to_owned());
        Ok(Self {
            id: id.to_owned(),
            identity,
            client: Client::with_client(location.url.clone(), made.token, location.http().build()?),
            journal: journal.clone(),
            open: RefCell::new(None),
        })
    }

    /// Sends the message to `person` and returns its outcome; a notice has none.
    pub async fn send(&self, message: SceneMessage, person: &str) -> Result<Option<Outcome>> {
        let version = self.client.version().await?;
        let draft = match message {
            SceneMessage::Ask(ask) => ask.to([person]).draft(&self.identity, version, now())?,
            SceneMessage::Task(task) => task.to([person]).draft(&self.identity, version, now())?,
            SceneMessage::Notify(notify) => notify.draft(&self.identity, version, now())?,
        };
        let ticket = self.submit(&draft).await?;
        self.open.replace(Some(ticket.clone()));
        let progress = self.client.wait(&ticket, WaitUntil::Ended).await?;
        self.open.replace(None);
        Ok(match progress {
            Progress::Ended(resolved) => {
                let how = outcome::ending(&resolved.outcome);
                let by = screen::actor_label(resolved.actor.as_deref().unwrap_or_default());
                screen::print_notice(&format!("{}: {how} by {by}", self.id));
                Some(resolved.outcome)
            }
            Progress::Delivered | Progress::Open => None,
        })
    }

    /// The reaction to an outcome.
    pub async fn tell(&self, title: &str, body: &str) -> Result<()> {
        let version = self.client.version().await?;
        let notify = Notify::new(title).body(body);
        self.submit(&notify.draft(&self.identity, version, now())?).await?;
        screen::print_notice(&format!("{}: {title}", self.id));
        Ok(())
    }

    async fn submit(&self, draft: &Draft) -> Result<Ticket> {
        Ok(self.client.submit(&self.journal, draft).await?)
    }

    /// Withdraws the open message and removes the agent.
    pub async fn remove(&self, owner: &HubClient) -> Result<()> {
        let open = self.open.take();
        match open {
            // Only a person can end a task.
            Some(Ticket {
                kind: Kind::Task,
                message_id: Some(id),
                ..
            }) => {
                let body = json!({"resolution": "dismissed", "comment": "The demo has ended."});
                owner.post(&["v1", "messages", &id, "resolve"], &body).await?;
            }
            Some(ticket) => {
                self.client.cancel(&ticket).await?;
            }
            None => {}
        }
        owner
            .post(&["v1", "admin", "agents", "remove"], &json!({ "id": self.id }))
            .await?;
        Ok(())
    }
}
