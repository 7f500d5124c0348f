use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{ContextUsage, Usage};
use crate::time::Timestamp;

/// An event of a run, sent to its subscribers.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case", rename_all_fields = "camelCase")]
pub enum Event {
    StrategyStarted {
        strategy_name: String,
        agents: Vec<String>,
        /// The flow as written in the strategy file.
        flow_tree: Value,
    },
    StrategyCompleted {
        result: String,
        usage: Usage,
    },
    StrategyError {
        error: RunError,
    },
    StepStarted {
        step_name: String,
        message: String,
    },
    StepCompleted {
        step_name: String,
        result: StepResult,
    },
    AgentOutput {
        agent_name: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        model: Option<String>,
        text: String,
        usage: Usage,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        context_usage: Option<ContextUsage>,
    },
    AgentStreaming {
        agent_name: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        model: Option<String>,
        event: StreamEvent,
    },
    RequestInput {
        agent_name: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        prompt: Option<String>,
        input_id: String,
    },
    RequestPermission {
        /// Its own, not that of the segment.
        request_id: String,
        agent_name: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        tool_name: Option<String>,
        operation: String,
        resource: String,
        reason: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        details: Option<Value>,
    },
    RequestQuestion {
        /// Its own, not that of the segment.
        request_id: String,
        agent_name: String,
        tool_name: String,
        question: String,
    },
    PolicyUpdated {
        tool: String,
        policies: Vec<PolicyName>,
    },
    SteerQueued {
        text: String,
    },
}

/// The error of a run that ended without a result.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunError {
    pub code: String,
    pub message: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct StepResult {
    pub text: String,
    pub usage: Usage,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context_usage: Option<ContextUsage>,
    pub finish_reason: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PolicyName {
    pub name: String,
}

/// A streamed event of a working agent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "kebab-case", rename_all_fields = "camelCase")]
pub enum StreamEvent {
    Text {
        text: String,
    },
    ToolCall {
        tool_call_id: String,
        tool_name: String,
        /// Raw text from the model.
        args: String,
    },
    ToolResult {
        tool_call_id: String,
        tool_name: String,
        output: String,
        status: ToolStatus,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        error: Option<String>,
    },
    ThinkingStart {
        id: String,
    },
    Thinking {
        id: String,
        text: String,
    },
    ThinkingEnd {
        id: String,
    },
    StepStart,
    Done {
        result: StepResult,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ToolStatus {
    Completed,
    Error,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct EventEnvelope<'a> {
    #[serde(flatten)]
    event: &'a Event,
    run_id: &'a str,
    seq: u64,
    ts: Timestamp,
    #[serde(skip_serializing_if = "Option::is_none")]
    request_id: Option<&'a str>,
}

impl Event {
    /// The value of its `type` field.
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::StrategyStarted { .. } => "strategy_started",
            Self::StrategyCompleted { .. } => "strategy_completed",
            Self::StrategyError { .. } => "strategy_error",
            Self::StepStarted { .. } => "step_started",
            Self::StepCompleted { .. } => "step_completed",
            Self::AgentOutput { .. } => "agent_output",
            Self::AgentStreaming { .. } => "agent_streaming",
            Self::RequestInput { .. } => "request_input",
            Self::RequestPermission { .. } => "request_permission",
            Self::RequestQuestion { .. } => "request_question",
            Self::PolicyUpdated { .. } => "policy_updated",
            Self::SteerQueued { .. } => "steer_queued",
        }
    }

    /// True if the event may be dropped for a slow client: streamed text comes again in full at the end.
    pub const fn is_droppable(&self) -> bool {
        matches!(self, Self::AgentStreaming { event, .. } if !matches!(event, StreamEvent::Done { .. }))
    }

    /// The JSON sent to subscribers. `request_id` is that of the start or continuation; a permission and a question
    /// carry their own instead.
    #[expect(
        clippy::expect_used,
        reason = "serialization fails only for map keys that are not strings"
    )]
    pub fn frame(&self, run_id: &str, seq: u64, ts: Timestamp, request_id: Option<&str>) -> String {
        let request_id = request_id.filter(|_| !self.has_own_request_id());
        let frame = EventEnvelope {
            event: self,
            run_id,
            seq,
            ts,
            request_id,
        };
        serde_json::to_string(&frame).expect("an event has string keys only")
    }

    const fn has_own_request_id(&self) -> bool {
        matches!(self, Self::RequestPermission { .. } | Self::RequestQuestion { .. })
    }
}

/// Marks the frame of an answered ask, so that a client that gets it in a replay does not prompt.
pub fn mark_resolved(frame: &str) -> String {
    match frame.strip_suffix('}') {
        Some(open) => format!(r#"{open},"resolved":true}}"#),
        None => frame.to_owned(),
    }
}
