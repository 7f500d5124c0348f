//! Decisions that their authors can still take back. The store holds them, and the timer in `timers.rs` releases them.

use std::sync::Arc;
use std::time::{Duration, Instant};

use countersign_core::hold::{Hold, MAX_UNDO_SECONDS};
use countersign_core::{Actor, Command, Rejection, Resolution};
use countersign_protocol::id::MessageId;
use countersign_protocol::time::Timestamp;
use countersign_store::StoreError;
use countersign_store::completion::run_to_completion;
use countersign_store::model::{ApplyOutcome, HoldOutcome, ResolveRequest, TakeBackOutcome};
use countersign_store::ops::message::apply::Apply;
use countersign_store::ops::message::hold::{BeginHold, HeldDecision, TakeBack};

use super::timers::{DueWork, sweep_due};
use super::{Messages, expect_outcome, reconcile, resolve_request, wanted_outcome};
use crate::cluster::LiveChange;
use crate::problem::Problem;

/// How often a waiting command checks whether the hold has ended: it may be taken back at any node.
const HOLD_POLL_INTERVAL: Duration = Duration::from_millis(100);
/// A hold that has not ended by then is damaged, or the clock was set back; its waiting command is refused.
const HOLD_WAIT_TIMEOUT: Duration = Duration::from_secs(MAX_UNDO_SECONDS as u64 + 5);

/// An accepted decision of a person.
pub enum PersonDecision {
    Resolved(Resolution),
    Held(Hold),
}

impl Messages {
    /// As `decide_with_files`, for a decision in an inbox: it is on hold for the undo time of its author first.
    pub async fn hold(
        self: &Arc<Self>,
        message_id: &MessageId,
        command: Command,
        files: Vec<Vec<u8>>,
    ) -> Result<HoldOutcome, StoreError> {
        let request = resolve_request(message_id, command, files);
        let messages = Arc::clone(self);
        run_to_completion(async move {
            let id = request.message_id.clone();
            let outcome = messages.begin_hold(request).await;
            let outcome = outcome.inspect_err(|error| messages.resync_if_unsure(error))?;
            messages.parts.indexer.note_activity();
            match &outcome {
                HoldOutcome::Held(hold) => messages.announce_hold(&id, hold.until),
                HoldOutcome::Applied(ApplyOutcome::Resolved(applied)) => messages.announce(applied),
                HoldOutcome::Applied(_) => {}
            }
            Ok(outcome)
        })
        .await
    }

    /// As `hold`; any outcome other than the commanded one is a `Problem`.
    pub async fn hold_exactly(
        self: &Arc<Self>,
        message_id: &MessageId,
        command: Command,
        files: Vec<Vec<u8>>,
    ) -> Result<PersonDecision, Problem> {
        let wanted = wanted_outcome(&command);
        match self.hold(message_id, command, files).await? {
            HoldOutcome::Held(hold) => Ok(PersonDecision::Held(hold)),
            HoldOutcome::Applied(outcome) => expect_outcome(message_id, wanted, outcome).map(PersonDecision::Resolved),
        }
    }

    async fn begin_hold(&self, request: ResolveRequest) -> Result<HoldOutcome, StoreError> {
        let again = self.parts.store.is_shared().then(|| request.clone());
        match (self.parts.store.run(self.begin(request)).await, &again) {
            (Err(StoreError::CommitUnknown(_)), Some(request)) => reconcile(|| self.begin_or_find(request)).await,
            (begun, _) => begun,
        }
    }

    fn begin(&self, request: ResolveRequest) -> BeginHold {
        BeginHold {
            request,
            default_undo_seconds: self.parts.default_undo_seconds,
        }
    }

    /// After an unsure commit: the decision is found by its own id, on hold or released, or it begins its hold again.
    async fn begin_or_find(&self, request: &ResolveRequest) -> Result<HoldOutcome, StoreError> {
        let store = &self.parts.store;
        match store.run(self.begin(request.clone())).await? {
            HoldOutcome::Applied(ApplyOutcome::Rejected(Rejection::Held { by, until })) => {
                let held = store.run(HeldDecision(request.message_id.clone())).await?;
                Ok(match held {
                    Some(held) if held.id == request.resolution_id => HoldOutcome::Held(Hold { by, until }),
                    Some(_) | None => HoldOutcome::Applied(ApplyOutcome::Rejected(Rejection::Held { by, until })),
                })
            }
            HoldOutcome::Applied(outcome) => self.find_own(request, outcome).await.map(HoldOutcome::Applied),
            held @ HoldOutcome::Held(_) => Ok(held),
        }
    }

    fn announce_hold(&self, id: &MessageId, until: Timestamp) {
        self.release_alarm.due(until);
        self.parts.live.publish(LiveChange::Held(id.clone()));
        tracing::debug!(message_id = %id, "decision on hold");
    }

    /// Takes a decision back while it is on hold.
    pub async fn take_back(self: &Arc<Self>, message_id: &MessageId, actor: Actor) -> Result<(), Problem> {
        let take_back = TakeBack {
            message_id: message_id.clone(),
            actor,
        };
        let messages = Arc::clone(self);
        run_to_completion(async move {
            let outcome = messages.take_back_or_find(&take_back).await;
            let outcome = outcome.inspect_err(|error| messages.resync_if_unsure(error))?;
            messages.announce_take_back(take_back.message_id, outcome)
        })
        .await
    }

    /// After an unsure commit the take-back runs again, and a message without a hold was taken back by the first commit.
    async fn take_back_or_find(&self, take_back: &TakeBack) -> Result<TakeBackOutcome, StoreError> {
        let store = &self.parts.store;
        let unsure = match store.run(take_back.clone()).await {
            Err(error @ StoreError::CommitUnknown(_)) if store.is_shared() => error,
            known => return known,
        };
        // If the first commit released the decision, only this resync announces it.
        self.resync_if_unsure(&unsure);
        match reconcile(|| store.run(take_back.clone())).await? {
            TakeBackOutcome::Rejected(Rejection::NotHeld) => Ok(TakeBackOutcome::TakenBack { expires_at: None }),
            outcome => Ok(outcome),
        }
    }

    fn announce_take_back(&self, id: MessageId, outcome: TakeBackOutcome) -> Result<(), Problem> {
        match outcome {
            TakeBackOutcome::TakenBack { expires_at } => {
                if let Some(expires_at) = expires_at {
                    self.expiry_alarm.due(expires_at);
                }
                tracing::debug!(message_id = %id, "decision taken back");
                self.parts.live.publish(LiveChange::Held(id));
                Ok(())
            }
            TakeBackOutcome::Released(released) => {
                self.announce(&released);
                Err(Rejection::already(&id, &released.resolution).into())
            }
            TakeBackOutcome::Rejected(rejection) => Err(rejection.into()),
            TakeBackOutcome::Purged => Err(Problem::Gone),
            TakeBackOutcome::NotFound => Err(Problem::no_message()),
        }
    }

    /// Applies the command of an agent when the hold has ended. The agent gets the real outcome, and does not learn of
    /// the hold.
    pub(super) async fn apply_after_hold(
        &self,
        request: ResolveRequest,
        mut until: Timestamp,
    ) -> Result<ApplyOutcome, StoreError> {
        let began = Instant::now();
        loop {
            self.wait_for_release(until, began).await?;
            match self.parts.store.run(Apply(request.clone())).await? {
                ApplyOutcome::Rejected(Rejection::Held { until: next, .. }) => until = next,
                outcome => return Ok(outcome),
            }
        }
    }

    /// One poll of a command that waits since `began`. A hold that is due is released here, because the timer may be later.
    pub async fn wait_for_release(&self, until: Timestamp, began: Instant) -> Result<(), StoreError> {
        if *self.parts.stopping.borrow() {
            return Err(StoreError::Unavailable("the hub is stopping".to_owned()));
        }
        if began.elapsed() > HOLD_WAIT_TIMEOUT {
            return Err(StoreError::Unavailable(
                "a decision on hold was not released in time".to_owned(),
            ));
        }
        let left = until.since(self.parts.store.clock().now());
        tokio::time::sleep(HOLD_POLL_INTERVAL).await;
        if left.is_zero() {
            sweep_due(self, DueWork::Release, &mut Vec::new()).await?;
        }
        Ok(())
    }
}
