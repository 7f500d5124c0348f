//! Every change to a message passes here on its way to the store, and everybody concerned hears of it on the way back.

use std::time::{Duration, Instant};

use countersign_core::decide::is_overdue_at;
use countersign_core::message::Door;
use countersign_core::{Command, Outcome, Rejection, Resolution, State};
use countersign_protocol::id::{MessageId, ResolutionId};
use countersign_store::StoreError;
use countersign_store::finish::to_the_end;
use countersign_store::model::{Application, Applied, Found, Proposal, Pulled};
use countersign_store::ops::apply::Apply;
use countersign_store::ops::pull::Pull;
use uuid::Uuid;

use crate::app::Hub;
use crate::inbox::news::Change;
use crate::peers::Signal;
use crate::problem::Problem;

/// After the store went away in the middle of a commit.
const BEFORE_ANOTHER_LOOK: Duration = Duration::from_millis(200);
/// Each look may itself take seconds, where the store is there and does nothing; whoever decides is told before they leave.
const LONGEST_LOOKING: Duration = Duration::from_secs(5);

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
        let proposal = Proposal {
            message_id: message_id.clone(),
            command,
            resolution_id,
            files,
        };
        let Some(hub) = self.me.upgrade() else {
            return self.apply(proposal).await;
        };
        // Whoever leaves in the middle has decided all the same, and a run would wait for ever to hear of it.
        to_the_end(async move { hub.apply(proposal).await }).await
    }

    async fn apply(&self, proposal: Proposal) -> Result<Application, StoreError> {
        let again = self.store.is_shared().then(|| proposal.clone());
        let application = match (self.store.run(Apply(proposal)).await, again) {
            (Err(StoreError::Unsure(_)), Some(proposal)) => self.apply_again(proposal).await,
            (applied, _) => applied,
        };
        let application = application.inspect_err(|error| self.may_be_done(error))?;
        self.indexer.active();
        if let Application::Resolved(applied) = &application {
            self.announce(applied);
        }
        Ok(application)
    }

    /// Nobody knows whether it was stored. If it was, it is found under its own id; if not, it is tried again.
    async fn apply_again(&self, proposal: Proposal) -> Result<Application, StoreError> {
        let began = Instant::now();
        loop {
            tokio::time::sleep(BEFORE_ANOTHER_LOOK).await;
            match self.apply_or_find(&proposal).await {
                // Whatever it says now, the first one may stand.
                Err(error) if began.elapsed() > LONGEST_LOOKING => return Err(StoreError::Unsure(error.to_string())),
                Err(_) => {}
                applied => return applied,
            }
        }
    }

    async fn apply_or_find(&self, proposal: &Proposal) -> Result<Application, StoreError> {
        let application = self.store.run(Apply(proposal.clone())).await?;
        let Application::Rejected(Rejection::AlreadyTerminal { .. }) = &application else {
            return Ok(application);
        };
        Ok(match self.store.run(Pull(proposal.message_id.clone())).await? {
            Some(Found::Live(pulled)) => own(pulled, proposal).unwrap_or(application),
            Some(Found::Gone { .. }) | None => application,
        })
    }

    /// Call it when a message could not be taken or resolved: if nobody knows whether it was, everybody looks at everything.
    pub fn may_be_done(&self, error: &StoreError) {
        if matches!(error, StoreError::Unsure(_)) {
            self.wake.look_all();
            self.news.miss();
            self.peers.say_everything();
        }
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
        let id = &applied.pulled.id;
        let outcome = applied.resolution.outcome;
        self.metrics.resolved(outcome);
        self.terminals.end(id);
        self.runs.resolved(&applied.pulled, applied.resolution.resolved_at);
        self.wake.ring(&applied.pulled);
        if self.peers.is_news(id) {
            self.news.tell_here(Change::Resolved(id.clone()));
        }
        self.peers.say(|| Signal::Resolved {
            id: id.clone(),
            run: asked_by(&applied.pulled),
        });
        if let Some(host) = &applied.push_host {
            self.outbox.wake(host);
        }
        tracing::debug!(%id, %outcome, "resolved");
    }

    /// Somebody looks at a message whose time is over before the timer got to it.
    pub async fn expire_if_overdue(&self, pulled: &Pulled) -> Result<bool, StoreError> {
        let is_open = matches!(pulled.state, State::Open);
        if !is_open || !is_overdue_at(pulled.expires_at, self.store.clock().now()) {
            return Ok(false);
        }
        // Boxed: it seldom happens, and everybody who waits would carry the room for it.
        Box::pin(self.decide(&pulled.id, Command::Expire)).await.map(|_| true)
    }
}

/// The outcome that this proposal brought about, if it is the one that is stored. Where its push goes, the outbox finds out.
fn own(pulled: Pulled, proposal: &Proposal) -> Option<Application> {
    let State::Resolved(resolution) = &pulled.state else {
        return None;
    };
    let resolution = Some(resolution.clone()).filter(|resolution| resolution.id == proposal.resolution_id)?;
    Some(Application::Resolved(Box::new(Applied {
        resolution,
        pulled,
        push_host: None,
    })))
}

fn asked_by(pulled: &Pulled) -> Option<String> {
    match pulled.source.door {
        Door::Runs => pulled.source.ids.get("runId").cloned(),
        Door::A2h | Door::Hap => None,
    }
}
