//! Every change to a message passes here on its way to the store, and everybody concerned hears of it on the way back.

use countersign_core::decide::is_overdue_at;
use countersign_core::{Command, Outcome, Rejection, Resolution};
use countersign_protocol::id::{MessageId, ResolutionId};
use countersign_store::StoreError;
use countersign_store::model::{Application, Applied, Proposal, Pulled};
use countersign_store::ops::apply::Apply;
use uuid::Uuid;

use crate::app::Hub;
use crate::inbox::news::Change;
use crate::problem::Problem;

impl Hub {
    pub async fn decide(&self, message_id: &MessageId, command: Command) -> Result<Application, StoreError> {
        self.decide_with(message_id, command, Vec::new()).await
    }

    /// With the bytes of the files that the verdict names, in its order.
    pub async fn decide_with(
        &self,
        message_id: &MessageId,
        command: Command,
        files: Vec<Vec<u8>>,
    ) -> Result<Application, StoreError> {
        let resolution_id = ResolutionId::from_uuid(Uuid::new_v4());
        let proposal = Proposal { message_id: message_id.clone(), command, resolution_id, files };
        let Some(hub) = self.me.upgrade() else { return self.apply(proposal).await };
        // By itself: whoever leaves in the middle has decided all the same, and a run would wait for ever to hear of it.
        let applied = tokio::spawn(async move { hub.apply(proposal).await });
        applied.await.unwrap_or_else(|error| Err(StoreError::Unavailable(error.to_string())))
    }

    async fn apply(&self, proposal: Proposal) -> Result<Application, StoreError> {
        let application = self.store.run(Apply(proposal)).await?;
        self.indexer.active();
        if let Application::Resolved(applied) = &application {
            self.announce(applied);
        }
        Ok(application)
    }

    /// For those to whom it is a problem if anything else becomes of the message than what they command.
    pub async fn bring_about(&self, message_id: &MessageId, command: Command) -> Result<Resolution, Problem> {
        self.bring_about_with(message_id, command, Vec::new()).await
    }

    /// The same, with the bytes of the files that the verdict notes.
    pub async fn bring_about_with(
        &self,
        message_id: &MessageId,
        command: Command,
        files: Vec<Vec<u8>>,
    ) -> Result<Resolution, Problem> {
        let wanted = match &command {
            Command::Resolve { verdict, .. } => verdict.outcome(),
            Command::Cancel | Command::Supersede { .. } => Outcome::Cancelled,
            Command::Expire => Outcome::Expired,
        };
        match self.decide_with(message_id, command, files).await? {
            Application::Resolved(applied) if applied.resolution.outcome == wanted => Ok(applied.resolution),
            // Too late: the command made the expiry happen.
            Application::Resolved(applied) => Err(Rejection::already(message_id, &applied.resolution).into()),
            Application::Rejected(rejection) => Err(rejection.into()),
            Application::Gone => Err(Problem::Gone),
            Application::NotFound => Err(Problem::no_message()),
        }
    }

    /// Call it after the commit, for every resolution.
    pub fn announce(&self, applied: &Applied) {
        let (id, outcome) = (&applied.pulled.id, applied.resolution.outcome);
        self.metrics.resolved(outcome);
        self.terminals.end(id);
        self.runs.resolved(&applied.pulled, applied.resolution.resolved_at);
        self.wake.ring(&applied.pulled);
        self.news.tell(Change::Resolved(id.clone()));
        if let Some(host) = &applied.push_host {
            self.outbox.wake(host);
        }
        tracing::debug!(%id, %outcome, "resolved");
    }

    /// Somebody looks at a message whose time is over before the timer got to it.
    pub async fn expire_if_overdue(&self, pulled: &Pulled) -> Result<bool, StoreError> {
        let is_open = matches!(pulled.state, countersign_core::State::Open);
        if !is_open || !is_overdue_at(pulled.expires_at, self.store.clock().now()) {
            return Ok(false);
        }
        // Boxed: it seldom happens, and everybody who waits would carry the room for it.
        Box::pin(self.decide(&pulled.id, Command::Expire)).await.map(|_| true)
    }
}
