//! Turning tool calls into questions for people, or into an error for the model.

use countersign_core::runs::AskKind;
use countersign_protocol::runs::{StreamEvent, ToolStatus};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::tool_calls::ToolCall;

pub const ASK_QUESTION: &str = "ask_question";
/// Questions in one answer; more would flood a person.
const MAX_QUESTIONS: usize = 16;
const MAX_QUESTION_BYTES: usize = 64 * 1024;

/// A tool call and its handling. Stored with the question until the answer comes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlannedCall {
    pub id: String,
    pub name: String,
    pub arguments: String,
    handling: Handling,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Handling {
    Ask(String),
    Refuse(String),
}

pub struct AnsweredCall {
    pub id: String,
    pub name: String,
    pub output: String,
    pub status: ToolStatus,
}

pub fn plan(calls: Vec<ToolCall>, may_ask: bool) -> Vec<PlannedCall> {
    let mut questions = 0;
    let planned = calls.into_iter().map(|call| {
        let mut handling = handling(&call, may_ask);
        if matches!(handling, Handling::Ask(_)) {
            questions += 1;
            if questions > MAX_QUESTIONS {
                handling = Handling::Refuse(format!("at most {MAX_QUESTIONS} questions at once; ask the rest later"));
            }
        }
        PlannedCall {
            id: call.id,
            name: call.name,
            arguments: call.arguments,
            handling,
        }
    });
    planned.collect()
}

/// The name of the first called tool that the model does not have.
pub fn unavailable_tool(calls: &[ToolCall], may_ask: bool) -> Option<&str> {
    calls
        .iter()
        .map(|call| call.name.as_str())
        .find(|name| *name != ASK_QUESTION || !may_ask)
}

fn handling(call: &ToolCall, may_ask: bool) -> Handling {
    if call.name != ASK_QUESTION || !may_ask {
        let there_is = if may_ask {
            "there is only ask_question"
        } else {
            "there are no tools"
        };
        return Handling::Refuse(format!("there is no tool {:?}; {there_is}", call.name));
    }
    let wrong = |why: &str| Handling::Refuse(format!("{why}; call it as {{\"question\": \"…\"}}"));
    let arguments: Value = match serde_json::from_str(&call.arguments) {
        Ok(arguments) => arguments,
        Err(error) => return wrong(&format!("the arguments are not valid JSON ({error})")),
    };
    match arguments.get("question").and_then(Value::as_str).map(str::trim) {
        None => wrong("the argument \"question\" is missing or not a string"),
        Some("") => wrong("the question is empty"),
        Some(question) if question.len() > MAX_QUESTION_BYTES => {
            wrong(&format!("the question is longer than {MAX_QUESTION_BYTES} bytes"))
        }
        Some(question) => Handling::Ask(question.replace('\0', "\u{FFFD}")),
    }
}

pub fn asks(planned: &[PlannedCall]) -> Vec<AskKind> {
    let ask = |planned: &PlannedCall| match &planned.handling {
        Handling::Ask(question) => Some(AskKind::Question {
            tool_name: planned.name.clone(),
            question: question.clone(),
        }),
        Handling::Refuse(_) => None,
    };
    planned.iter().filter_map(ask).collect()
}

/// Matches the answers, which come in the order of the asks, to their calls.
pub fn answered(planned: Vec<PlannedCall>, answers: Vec<String>) -> Result<Vec<AnsweredCall>, String> {
    if asks(&planned).len() != answers.len() {
        return Err("the number of answers does not match the questions of this agent".to_owned());
    }
    let mut answers = answers.into_iter();
    let answered = planned.into_iter().map(|planned| {
        let (output, status) = match planned.handling {
            Handling::Ask(_) => (answers.next().unwrap_or_default(), ToolStatus::Completed),
            Handling::Refuse(why) => (format!("Error: {why}"), ToolStatus::Error),
        };
        AnsweredCall {
            id: planned.id,
            name: planned.name,
            output,
            status,
        }
    });
    Ok(answered.collect())
}

impl PlannedCall {
    /// The call as sent back to the model. Arguments that are not an object become `{}`: many endpoints refuse anything
    /// else.
    pub fn message(&self) -> Value {
        let is_object = serde_json::from_str::<serde_json::Map<String, Value>>(&self.arguments).is_ok();
        let arguments = if is_object { self.arguments.as_str() } else { "{}" };
        json!({"id": self.id, "type": "function", "function": {"name": self.name, "arguments": arguments}})
    }

    pub fn event(&self) -> StreamEvent {
        let tool_call_id = self.id.clone();
        let tool_name = self.name.clone();
        StreamEvent::ToolCall {
            tool_call_id,
            tool_name,
            args: self.arguments.clone(),
        }
    }
}

impl AnsweredCall {
    pub fn message(&self) -> Value {
        json!({"role": "tool", "tool_call_id": self.id, "content": self.output})
    }

    pub fn event(&self) -> StreamEvent {
        let error = match self.status {
            ToolStatus::Completed => None,
            ToolStatus::Error => Some(self.output.clone()),
        };
        StreamEvent::ToolResult {
            tool_call_id: self.id.clone(),
            tool_name: self.name.clone(),
            output: self.output.clone(),
            status: self.status,
            error,
        }
    }
}
