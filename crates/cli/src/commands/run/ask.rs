//! One question of a run: how it is shown, and the message that answers it.

use std::fmt::Write;

use countersign_client::screen::{escape, quote};
use countersign_protocol::runs::{ClientMessage, Decision, Event};
use serde_json::Value;

#[derive(Debug, Clone, PartialEq)]
pub struct ConsoleAsk {
    /// The id on the wire.
    pub id: String,
    pub agent_name: String,
    kind: ConsoleAskKind,
}

#[derive(Debug, Clone, PartialEq)]
enum ConsoleAskKind {
    Input {
        prompt: Option<String>,
    },
    Permission {
        operation: String,
        resource: String,
        details: Option<Value>,
    },
    Question {
        question: String,
    },
}

impl ConsoleAsk {
    /// Returns `None` for an event that is not a question.
    pub fn of(event: &Event) -> Option<Self> {
        let (id, agent_name, kind) = match event {
            Event::RequestInput {
                agent_name,
                prompt,
                input_id,
            } => (input_id, agent_name, ConsoleAskKind::Input { prompt: prompt.clone() }),
            Event::RequestPermission {
                request_id,
                agent_name,
                operation,
                resource,
                details,
                ..
            } => {
                let operation = operation.clone();
                let resource = resource.clone();
                let details = details.clone();
                (
                    request_id,
                    agent_name,
                    ConsoleAskKind::Permission {
                        operation,
                        resource,
                        details,
                    },
                )
            }
            Event::RequestQuestion {
                request_id,
                agent_name,
                question,
                ..
            } => (
                request_id,
                agent_name,
                ConsoleAskKind::Question {
                    question: question.clone(),
                },
            ),
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
        Some(Self {
            id: id.clone(),
            agent_name: agent_name.clone(),
            kind,
        })
    }

    /// The asker and the question, on lines of their own.
    pub fn text(&self) -> String {
        let agent = escape(&self.agent_name);
        match &self.kind {
            ConsoleAskKind::Input { prompt } => {
                format!(
                    "{agent} needs your input\n{}",
                    quote(prompt.as_deref().unwrap_or_default())
                )
            }
            ConsoleAskKind::Question { question } => format!("{agent} has a question\n{}", quote(question)),
            ConsoleAskKind::Permission {
                operation,
                resource,
                details,
            } => {
                let details = details
                    .as_ref()
                    .map(|details| quote(&details.to_string()))
                    .unwrap_or_default();
                format!(
                    "{agent} needs your permission for {}\n{}{details}",
                    escape(operation),
                    quote(resource)
                )
            }
        }
    }

    /// The choices, unless the answer is a text.
    pub fn choices(&self) -> String {
        let mut text = String::new();
        if self.wants_a_decision() {
            for (index, decision) in Decision::ALL.into_iter().enumerate() {
                let _ = writeln!(text, "  {}. {:<13} {}", index + 1, decision.as_str(), scope(decision));
            }
        }
        text
    }

    pub fn prompt(&self) -> &'static str {
        if self.wants_a_decision() {
            "Your decision (a number or a word): "
        } else {
            "Your answer (one line; \"\"\" before and after several): "
        }
    }

    pub fn wants_a_decision(&self) -> bool {
        matches!(self.kind, ConsoleAskKind::Permission { .. })
    }

    /// The message names its question, so that sending it again is idempotent.
    pub fn answered(&self, run_id: &str, answer: &RunAnswer) -> ClientMessage {
        let run_id = run_id.to_owned();
        let id = self.id.clone();
        let agent_name = self.agent_name.clone();
        match (answer, &self.kind) {
            (RunAnswer::Decision(decision), _) => ClientMessage::PermissionDecision {
                run_id,
                permission_request_id: id,
                decision: *decision,
            },
            (RunAnswer::Text(text), ConsoleAskKind::Question { .. }) => ClientMessage::QuestionResponse {
                run_id,
                question_request_id: id,
                response: text.clone(),
            },
            (RunAnswer::Text(text), ConsoleAskKind::Input { .. } | ConsoleAskKind::Permission { .. }) => {
                ClientMessage::UserInput {
                    run_id,
                    agent_name,
                    text: text.clone(),
                    input_id: Some(id),
                }
            }
        }
    }
}

#[derive(Debug, Clone, PartialEq)]
pub enum RunAnswer {
    Text(String),
    Decision(Decision),
}

impl RunAnswer {
    pub fn as_str(&self) -> &str {
        match self {
            Self::Text(text) => text,
            Self::Decision(decision) => decision.as_str(),
        }
    }
}

fn scope(decision: Decision) -> &'static str {
    if decision.is_for_the_session() {
        "for the rest of this run, also with other input"
    } else {
        "this time"
    }
}

#[cfg(test)]
pub mod tests {
    use serde_json::json;

    use super::*;

    pub fn input(id: &str, agent_name: &str, prompt: Option<&str>) -> ConsoleAsk {
        let agent_name = agent_name.to_owned();
        let input_id = id.to_owned();
        let prompt = prompt.map(str::to_owned);
        ConsoleAsk::of(&Event::RequestInput {
            agent_name,
            prompt,
            input_id,
        })
        .unwrap()
    }

    pub fn permission(id: &str, resource: &str) -> ConsoleAsk {
        let event = json!({
            "type": "request_permission", "requestId": id, "agentName": "worker", "toolName": "command",
            "operation": "command.execute", "resource": resource, "reason": "policy-ask",
        });
        ConsoleAsk::of(&serde_json::from_value(event).unwrap()).unwrap()
    }

    #[test]
    fn an_agents_text_is_quoted_and_escaped() {
        let text = input("1", "edi\u{1b}tor", Some("one\ntwo\u{1b}[2J")).text();
        assert_eq!(text, "edi\\u{1b}tor needs your input\n  | one\n  | two\\u{1b}[2J\n");
        assert_eq!(input("1", "editor", None).text(), "editor needs your input\n");
        let text = permission("1", "rm -rf /\u{202e}").text();
        assert_eq!(
            text,
            "worker needs your permission for command.execute\n  | rm -rf /\\u{202e}\n"
        );
    }

    #[test]
    fn an_answer_names_its_question() {
        let text = RunAnswer::Text("go".to_owned());
        let message = input("7", "editor", None).answered("r1", &text).frame(None);
        let expected =
            json!({"type": "user_input", "runId": "r1", "agentName": "editor", "text": "go", "inputId": "7"});
        assert_eq!(serde_json::from_str::<Value>(&message).unwrap(), expected);
        let message = permission("8", "ls")
            .answered("r1", &RunAnswer::Decision(Decision::DenySession))
            .frame(None);
        let expected = json!({
            "type": "permission_decision", "runId": "r1", "permissionRequestId": "8", "decision": "deny-session",
        });
        assert_eq!(serde_json::from_str::<Value>(&message).unwrap(), expected);
    }
}
