//! One response of a model, accumulated and streamed to followers as it arrives.

use countersign_protocol::runs::{ContextUsage, StreamEvent, Usage};
use serde::de::IgnoredAny;

use super::chunk::{Chunk, Delta, LlmChoice};
use super::tool_calls::ToolCalls;
use crate::engine::agents::context::AgentContext;

const DONE_MARKER: &[u8] = b"[DONE]";

/// Why a response is unusable.
#[derive(Debug, PartialEq, Eq)]
pub enum ResponseError {
    /// The server reported an error in the middle of its response.
    Error(String),
    NotJson(String),
    TooLong,
    TooManyCalls,
}

pub struct LlmResponse {
    pub text: String,
    pub calls: ToolCalls,
    pub usage: Usage,
    pub context_usage: Option<ContextUsage>,
    pub finish_reason: Option<String>,
    /// The server sent its end marker.
    pub ended: bool,
    /// A part was streamed to followers, so the request cannot be retried.
    pub was_streamed: bool,
    /// Remaining byte budget.
    bytes_left: usize,
    thoughts: Thoughts,
}

/// Reasoning text comes in stretches, each with its own id.
struct Thoughts {
    round: u32,
    stretch: u32,
    open: Option<String>,
}

impl LlmResponse {
    pub fn new(round: u32, bytes_left: usize) -> Self {
        Self {
            text: String::new(),
            calls: ToolCalls::default(),
            usage: Usage::default(),
            context_usage: None,
            finish_reason: None,
            ended: false,
            was_streamed: false,
            bytes_left,
            thoughts: Thoughts {
                round,
                stretch: 0,
                open: None,
            },
        }
    }

    /// True if the event data looks complete although the empty line after it is missing.
    pub fn is_whole(data: &[u8]) -> bool {
        data.trim_ascii() == DONE_MARKER || serde_json::from_slice::<IgnoredAny>(data).is_ok()
    }

    pub fn has_begun(&self) -> bool {
        self.was_streamed || !self.calls.is_empty()
    }

    /// True if the response itself is complete, even if more bytes may follow.
    pub fn is_complete(&self) -> bool {
        self.ended || self.finish_reason.is_some()
    }

    pub fn bytes_left(&self) -> usize {
        self.bytes_left
    }

    pub async fn take<D: AgentContext>(&mut self, data: &[u8], context: &mut D) -> Result<(), ResponseError> {
        let data = data.trim_ascii();
        if data == DONE_MARKER {
            self.ended = true;
        }
        if self.ended || data.is_empty() {
            return Ok(());
        }
        let chunk: Chunk = serde_json::from_slice(data).map_err(|error| ResponseError::NotJson(error.to_string()))?;
        if let Some(error) = chunk.error {
            return Err(ResponseError::Error(error.to_string()));
        }
        if let Some(counts) = chunk.usage {
            self.usage = counts.into();
            self.context_usage = counts.context_usage();
        }
        for choice in chunk
            .choices
            .into_iter()
            .filter(|choice| choice.index.unwrap_or_default() == 0)
        {
            self.take_choice(choice, context).await?;
        }
        Ok(())
    }

    async fn take_choice<D: AgentContext>(&mut self, choice: LlmChoice, context: &mut D) -> Result<(), ResponseError> {
        if let Some(delta) = choice.delta.or(choice.message) {
            self.take_delta(delta, context).await?;
        }
        if let Some(reason) = choice.finish_reason.filter(|reason| !reason.is_empty()) {
            // The run protocol writes these reasons with a hyphen.
            self.finish_reason = Some(reason.replace('_', "-"));
        }
        Ok(())
    }

    async fn take_delta<D: AgentContext>(&mut self, mut delta: Delta, context: &mut D) -> Result<(), ResponseError> {
        let thought = readable(delta.thought());
        if !thought.is_empty() {
            self.spend(thought.len())?;
            self.was_streamed = true;
            self.thoughts.add(thought, context).await;
        }
        for call in std::mem::take(&mut delta.tool_calls) {
            let bytes = self.calls.add(call).ok_or(ResponseError::TooManyCalls)?;
            self.spend(bytes)?;
        }
        let text = readable(&delta.text());
        if !text.is_empty() {
            self.spend(text.len())?;
            self.was_streamed = true;
            self.thoughts.end(context).await;
            self.text.push_str(&text);
            context.emit(StreamEvent::Text { text }).await;
        }
        Ok(())
    }

    pub async fn finish<D: AgentContext>(&mut self, context: &mut D) {
        self.thoughts.end(context).await;
    }

    fn spend(&mut self, bytes: usize) -> Result<(), ResponseError> {
        self.bytes_left = self.bytes_left.checked_sub(bytes).ok_or(ResponseError::TooLong)?;
        Ok(())
    }
}

/// Replaces zero bytes, which PostgreSQL cannot store in text.
fn readable(text: &str) -> String {
    text.replace('\0', "\u{FFFD}")
}

impl Thoughts {
    async fn add<D: AgentContext>(&mut self, text: String, context: &mut D) {
        let id = match &self.open {
            Some(id) => id.clone(),
            None => {
                let id = format!("thinking-{}-{}", self.round, self.stretch);
                context.emit(StreamEvent::ThinkingStart { id: id.clone() }).await;
                self.open = Some(id.clone());
                id
            }
        };
        context.emit(StreamEvent::Thinking { id, text }).await;
    }

    async fn end<D: AgentContext>(&mut self, context: &mut D) {
        if let Some(id) = self.open.take() {
            self.stretch += 1;
            context.emit(StreamEvent::ThinkingEnd { id }).await;
        }
    }
}
