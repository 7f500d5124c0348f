//! An answer that comes through the socket. It is decided where every other answer is; here is only found out to what.

use countersign_core::{Actor, Command, Outcome, Rejection, Verdict};
use countersign_store::model::Application;

use super::pending::Wanted;
use super::refusal::Refusal;
use crate::app::Hub;

impl Hub {
    /// Silence is success: whoever follows the run hears how it goes on.
    pub async fn answer_run(&self, run_id: &str, wanted: Wanted<'_>, text: &str, actor: Actor) -> Result<(), Refusal> {
        let run = self.runs.get(run_id);
        let mut pending = run.as_ref().and_then(|run| run.pending(wanted));
        let is_hearsay = pending.is_none() || run.is_some_and(|run| run.is_elsewhere());
        if pending.is_none() {
            pending = self.pending_elsewhere(run_id, wanted).await?;
        }
        let Some(mut asked) = pending else {
            return Err(not_pending(run_id, wanted));
        };
        let command = Command::Resolve {
            actor,
            verdict: Verdict::Answered(text.into()),
            comment: None,
        };
        let mut decided = self.decide(&asked.message_id, command.clone()).await?;
        // What another hub asked next may not have been heard here yet.
        while is_hearsay
            && matches!(decided, Application::Rejected(Rejection::AlreadyTerminal { .. }))
            && let Some(next) = self.pending_elsewhere(run_id, wanted).await?
            && next.message_id != asked.message_id
        {
            asked = next;
            decided = self.decide(&asked.message_id, command.clone()).await?;
        }
        match decided {
            Application::Resolved(applied) if applied.resolution.outcome == Outcome::Answered => Ok(()),
            Application::Rejected(Rejection::NotAuthorized(actor)) => {
                let message = format!("{actor} is not among those who may answer this; it was asked before they could");
                Err(Refusal::new("NOT_AUTHORIZED", message))
            }
            // Somebody was first, or its time was over.
            Application::Resolved(_) | Application::Rejected(_) | Application::Gone | Application::NotFound => {
                Err(not_pending(run_id, wanted))
            }
        }
    }
}

fn not_pending(run_id: &str, wanted: Wanted<'_>) -> Refusal {
    match wanted {
        Wanted::Input { agent_name, .. } => {
            let message = format!("No pending input request for run {run_id} agent {agent_name}");
            Refusal::new("NO_PENDING_INPUT", message)
        }
        Wanted::Permission { id } => Refusal::new(
            "NO_PENDING_PERMISSION",
            format!("No pending permission request {id} for run {run_id}"),
        ),
        Wanted::Question { id } => Refusal::new(
            "NO_PENDING_QUESTION",
            format!("No pending question request {id} for run {run_id}"),
        ),
    }
}
