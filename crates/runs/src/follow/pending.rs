//! The asks a run waits for, and the answers that come through the socket. An answer finds its ask here; `decide` judges it
//! like any other.

use std::sync::Arc;

use countersign_core::runs::AskKind;
use countersign_core::{Actor, Command, Outcome, Rejection, Verdict};
use countersign_protocol::id::MessageId;
use countersign_protocol::runs::{Event, PendingInput};
use countersign_protocol::time::Timestamp;
use countersign_store::model::ApplyOutcome;
use serde::Deserialize;

use super::broadcast::EventFrame;
use crate::refusal::RunRefusal;
use crate::service::RunService;

/// Bound for a prompt in a list; the message and the event have the full text.
const MAX_PROMPT_BYTES: usize = 4096;

#[derive(Debug, Clone)]
pub struct PendingAsk {
    pub message_id: MessageId,
    pub kind: PendingKind,
    pub agent_name: String,
    /// The id used in the protocol.
    pub id: String,
    /// The question; for a permission, the resource.
    pub prompt: Option<String>,
    pub ts: Timestamp,
    pub frame: EventFrame,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PendingKind {
    Input,
    Permission,
    Question,
}

impl PendingKind {
    pub fn of(kind: &AskKind) -> Self {
        match kind {
            AskKind::Input { .. } => Self::Input,
            AskKind::Permission { .. } => Self::Permission,
            AskKind::Question { .. } => Self::Question,
        }
    }

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Input => "input",
            Self::Permission => "permission",
            Self::Question => "question",
        }
    }
}

/// Selects the ask that an answer belongs to.
#[derive(Debug, Clone, Copy)]
pub enum AskSelector<'a> {
    /// Without an id, the oldest ask of the agent.
    Input {
        agent_name: &'a str,
        input_id: Option<&'a str>,
    },
    Permission {
        id: &'a str,
    },
    Question {
        id: &'a str,
    },
}

impl PendingAsk {
    /// Returns `None` for an event that asks nothing.
    pub fn from_event(message_id: MessageId, event: &Event, ts: Timestamp, frame: EventFrame) -> Option<Self> {
        let (kind, agent_name, id, prompt) = match event {
            Event::RequestInput {
                agent_name,
                prompt,
                input_id,
            } => (PendingKind::Input, agent_name, input_id, prompt.clone()),
            Event::RequestPermission {
                request_id,
                agent_name,
                resource,
                ..
            } => (PendingKind::Permission, agent_name, request_id, Some(resource.clone())),
            Event::RequestQuestion {
                request_id,
                agent_name,
                question,
                ..
            } => (PendingKind::Question, agent_name, request_id, Some(question.clone())),
            Event::StrategyStarted { .. }
            | Event::StrategyCompleted { .. }
            | Event::StrategyError { .. }
            | Event::StepStarted { .. }
            | Event::StepCompleted { .. }
            | Event::AgentOutput { .. }
            | Event::AgentStreaming { .. }
            | Event::PolicyUpdated { .. }
            | Event::SteerQueued { .. } => return None,
        };
        let agent_name = agent_name.clone();
        let id = id.clone();
        Some(Self {
            message_id,
            kind,
            agent_name,
            id,
            prompt,
            ts,
            frame,
        })
    }

    /// Rebuilds the ask from its event frame. Returns `None` for a frame that asks nothing.
    pub fn from_frame(message_id: MessageId, wire: &str) -> Option<Self> {
        #[derive(Deserialize)]
        struct FrameHeader {
            seq: u64,
            ts: Timestamp,
        }
        let event = serde_json::from_str::<Event>(wire).ok()?;
        let from_frame = serde_json::from_str::<FrameHeader>(wire).ok()?;
        Self::from_event(
            message_id,
            &event,
            from_frame.ts,
            EventFrame::of(&event, from_frame.seq, wire),
        )
    }

    pub fn matches(&self, selector: AskSelector<'_>) -> bool {
        match selector {
            AskSelector::Input { agent_name, input_id } => {
                self.kind == PendingKind::Input
                    && self.agent_name == agent_name
                    && input_id.is_none_or(|id| self.id == id)
            }
            AskSelector::Permission { id } => self.kind == PendingKind::Permission && self.id == id,
            AskSelector::Question { id } => self.kind == PendingKind::Question && self.id == id,
        }
    }

    pub fn input(&self) -> Option<PendingInput> {
        (self.kind == PendingKind::Input).then(|| PendingInput {
            agent_name: self.agent_name.clone(),
            input_id: self.id.clone(),
            prompt: self.short_prompt(),
            ts: self.ts,
        })
    }

    /// The prompt, shortened if it is long.
    pub fn short_prompt(&self) -> Option<String> {
        let text = self.prompt.as_deref()?;
        if text.len() <= MAX_PROMPT_BYTES {
            return Some(text.to_owned());
        }
        Some(format!("{}…", &text[..text.floor_char_boundary(MAX_PROMPT_BYTES)]))
    }
}

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

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;

    fn input(agent_name: &str, input_id: &str) -> PendingAsk {
        let agent_name = agent_name.to_owned();
        let input_id = input_id.to_owned();
        let event = Event::RequestInput {
            agent_name,
            prompt: None,
            input_id,
        };
        let message_id = MessageId::from_uuid(Uuid::from_u128(7));
        PendingAsk::from_event(
            message_id,
            &event,
            Timestamp::from_millis(1),
            EventFrame::of(&event, 1, "{}"),
        )
        .unwrap()
    }

    #[test]
    fn an_answer_finds_the_oldest_of_its_agent_unless_it_names_one() {
        let pending = [input("ann", "1"), input("bob", "2"), input("bob", "3")];
        let found = |agent_name, input_id| {
            let selector = AskSelector::Input { agent_name, input_id };
            pending
                .iter()
                .find(|pending| pending.matches(selector))
                .map(|pending| pending.id.as_str())
        };
        assert_eq!(found("bob", None), Some("2"));
        assert_eq!(found("bob", Some("3")), Some("3"));
        assert_eq!(found("ann", Some("3")), None, "the id of another agent");
        assert_eq!(found("eve", None), None);
    }

    #[test]
    fn an_input_is_neither_a_permission_nor_a_question() {
        let input = input("ann", "1");
        assert!(
            !input.matches(AskSelector::Permission { id: "1" }) && !input.matches(AskSelector::Question { id: "1" })
        );
    }
}
