//! What a run waits for.

use countersign_protocol::id::MessageId;
use countersign_protocol::runs::{Event, PendingInput};
use countersign_protocol::time::Timestamp;
use serde::Deserialize;

use super::frame::Frame;

/// Of a prompt in a list; the message it is asked by, and the event that told of it, have all of it.
const MOST_PROMPT_BYTES: usize = 4096;

#[derive(Debug, Clone)]
pub struct Pending {
    pub message_id: MessageId,
    pub kind: Asked,
    pub agent_name: String,
    /// What the wire calls it.
    pub id: String,
    /// The question itself; of a permission, what is to be allowed.
    pub prompt: Option<String>,
    pub ts: Timestamp,
    pub frame: Frame,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Asked {
    Input,
    Permission,
    Question,
}

impl Asked {
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Input => "input",
            Self::Permission => "permission",
            Self::Question => "question",
        }
    }
}

/// Which of them somebody answers.
#[derive(Debug, Clone, Copy)]
pub enum Wanted<'a> {
    /// Without an id the oldest of the agent.
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

impl Pending {
    /// Nothing for an event that asks nothing.
    pub fn of(message_id: MessageId, event: &Event, ts: Timestamp, frame: Frame) -> Option<Self> {
        let (kind, agent_name, id, prompt) = match event {
            Event::RequestInput {
                agent_name,
                prompt,
                input_id,
            } => (Asked::Input, agent_name, input_id, prompt.clone()),
            Event::RequestPermission {
                request_id,
                agent_name,
                resource,
                ..
            } => (Asked::Permission, agent_name, request_id, Some(resource.clone())),
            Event::RequestQuestion {
                request_id,
                agent_name,
                question,
                ..
            } => (Asked::Question, agent_name, request_id, Some(question.clone())),
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

    /// From the frame that told of it. Nothing for one that asks nothing.
    pub fn told(message_id: MessageId, wire: &str) -> Option<Self> {
        #[derive(Deserialize)]
        struct Told {
            seq: u64,
            ts: Timestamp,
        }
        let event = serde_json::from_str::<Event>(wire).ok()?;
        let told = serde_json::from_str::<Told>(wire).ok()?;
        Self::of(message_id, &event, told.ts, Frame::of(&event, told.seq, wire))
    }

    pub fn is(&self, wanted: Wanted<'_>) -> bool {
        match wanted {
            Wanted::Input { agent_name, input_id } => {
                self.kind == Asked::Input && self.agent_name == agent_name && input_id.is_none_or(|id| self.id == id)
            }
            Wanted::Permission { id } => self.kind == Asked::Permission && self.id == id,
            Wanted::Question { id } => self.kind == Asked::Question && self.id == id,
        }
    }

    pub fn input(&self) -> Option<PendingInput> {
        (self.kind == Asked::Input).then(|| PendingInput {
            agent_name: self.agent_name.clone(),
            input_id: self.id.clone(),
            prompt: self.short_prompt(),
            ts: self.ts,
        })
    }

    /// Its start, where it is long.
    pub fn short_prompt(&self) -> Option<String> {
        let text = self.prompt.as_deref()?;
        if text.len() <= MOST_PROMPT_BYTES {
            return Some(text.to_owned());
        }
        Some(format!("{}…", &text[..text.floor_char_boundary(MOST_PROMPT_BYTES)]))
    }
}

#[cfg(test)]
mod tests {
    use uuid::Uuid;

    use super::*;

    fn input(agent_name: &str, input_id: &str) -> Pending {
        let agent_name = agent_name.to_owned();
        let input_id = input_id.to_owned();
        let event = Event::RequestInput {
            agent_name,
            prompt: None,
            input_id,
        };
        let message_id = MessageId::from_uuid(Uuid::from_u128(7));
        Pending::of(
            message_id,
            &event,
            Timestamp::from_millis(1),
            Frame::of(&event, 1, "{}"),
        )
        .unwrap()
    }

    #[test]
    fn an_answer_finds_the_oldest_of_its_agent_unless_it_names_one() {
        let pending = [input("ann", "1"), input("bob", "2"), input("bob", "3")];
        let found = |agent_name, input_id| {
            let wanted = Wanted::Input { agent_name, input_id };
            pending
                .iter()
                .find(|pending| pending.is(wanted))
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
        assert!(!input.is(Wanted::Permission { id: "1" }) && !input.is(Wanted::Question { id: "1" }));
    }
}
