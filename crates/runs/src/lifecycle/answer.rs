//! An answer that comes through the socket. This module finds the ask it belongs to; `decide` judges it like any other
//! answer.

use std::sync::Arc;

use countersign_core::{Actor, Command, Outcome, Rejection, Verdict};
use countersign_store::model::ApplyOutcome;

use crate::follow::pending::{AskSelector, PendingAsk};
use crate::refusal::RunRefusal;
use crate::service::RunService;

impl RunService {
    /// Success sends no reply: followers of the run see it continue.
    pub async fn answer_run(
        self: &Arc<Self>,
        run_id: &str,
        selector: AskSelector<'_>,
        text: &str,
        actor: Actor,
    ) -> Result<(), RunRefusal> {
        let run = self.registry.get(run_id);
        let matches = |pending: &&PendingAsk| pending.matches(selector);
        // The oldest one that matches.
        let mut pending = run
            .as_ref()
            .and_then(|run| run.lock().pending.iter().find(matches).cloned());
        let may_be_stale = pending.is_none() || run.is_some_and(|run| run.is_remote());
        if pending.is_none() {
            pending = self.pending_in_shared_store(run_id, selector).await?;
        }
        let Some(mut asked) = pending else {
            return Err(RunRefusal::NoOpenAsk);
        };
        let command = Command::Resolve {
            actor,
            verdict: Verdict::Answered(text.into()),
            comment: None,
        };
        let mut decided = Arc::clone(&self.host)
            .decide(&asked.message_id, command.clone())
            .await?;
        // The next ask of another node's run may not be known here yet.
        while may_be_stale
            && matches!(decided, ApplyOutcome::Rejected(Rejection::AlreadyTerminal { .. }))
            && let Some(next) = self.pending_in_shared_store(run_id, selector).await?
            && next.message_id != asked.message_id
        {
            asked = next;
            decided = Arc::clone(&self.host)
                .decide(&asked.message_id, command.clone())
                .await?;
        }
        match decided {
            ApplyOutcome::Resolved(applied) if applied.resolution.outcome == Outcome::Answered => Ok(()),
            ApplyOutcome::Rejected(Rejection::NotAuthorized(actor)) => Err(RunRefusal::NotAResolver(actor)),
            ApplyOutcome::Rejected(held @ Rejection::Held { .. }) => Err(RunRefusal::Held(held.to_string())),
            // Another answer won the race, or the ask expired.
            ApplyOutcome::Resolved(_) | ApplyOutcome::Rejected(_) | ApplyOutcome::Purged | ApplyOutcome::NotFound => {
                Err(RunRefusal::NoOpenAsk)
            }
        }
    }
}
