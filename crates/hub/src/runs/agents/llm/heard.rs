//! What has come of one answer so far, told to whoever watches as it comes.

use countersign_protocol::runs::{StreamEvent, Usage};

use serde::de::IgnoredAny;

use super::super::seam::Desk;
use super::calls::Calls;
use super::chunk::{Choice, Chunk, Delta};

const THE_END: &[u8] = b"[DONE]";

/// Why an answer is no use.
#[derive(Debug, PartialEq, Eq)]
pub enum Bad {
    /// The server says so itself, in the middle of its answer.
    Error(String),
    NotJson(String),
    TooLong,
    TooManyCalls,
}

pub struct Heard {
    pub text: String,
    pub calls: Calls,
    pub usage: Usage,
    pub finish_reason: Option<String>,
    /// The server said that nothing more comes.
    pub ended: bool,
    /// Somebody may have seen a part of it, so it cannot begin again.
    pub was_told: bool,
    /// How many bytes may still come.
    left: usize,
    thoughts: Thoughts,
}

/// Thoughts come in stretches, each under an id of its own.
struct Thoughts {
    round: u32,
    stretch: u32,
    open: Option<String>,
}

impl Heard {
    pub fn new(round: u32, left: usize) -> Self {
        Self {
            text: String::new(),
            calls: Calls::default(),
            usage: Usage::default(),
            finish_reason: None,
            ended: false,
            was_told: false,
            left,
            thoughts: Thoughts {
                round,
                stretch: 0,
                open: None,
            },
        }
    }

    /// Whether an event came to its end, as far as one can tell without the empty line after it.
    pub fn is_whole(data: &[u8]) -> bool {
        data.trim_ascii() == THE_END || serde_json::from_slice::<IgnoredAny>(data).is_ok()
    }

    pub fn has_begun(&self) -> bool {
        self.was_told || !self.calls.is_empty()
    }

    /// Whatever may still come, the answer itself is here.
    pub fn is_complete(&self) -> bool {
        self.ended || self.finish_reason.is_some()
    }

    pub fn left(&self) -> usize {
        self.left
    }

    pub async fn take<D: Desk>(&mut self, data: &[u8], desk: &mut D) -> Result<(), Bad> {
        let data = data.trim_ascii();
        if data == THE_END {
            self.ended = true;
        }
        if self.ended || data.is_empty() {
            return Ok(());
        }
        let chunk: Chunk = serde_json::from_slice(data).map_err(|error| Bad::NotJson(error.to_string()))?;
        if let Some(error) = chunk.error {
            return Err(Bad::Error(error.to_string()));
        }
        if let Some(counted) = chunk.usage {
            self.usage = counted.into();
        }
        for choice in chunk
            .choices
            .into_iter()
            .filter(|choice| choice.index.unwrap_or_default() == 0)
        {
            self.take_choice(choice, desk).await?;
        }
        Ok(())
    }

    async fn take_choice<D: Desk>(&mut self, choice: Choice, desk: &mut D) -> Result<(), Bad> {
        if let Some(delta) = choice.delta.or(choice.message) {
            self.take_delta(delta, desk).await?;
        }
        if let Some(reason) = choice.finish_reason.filter(|reason| !reason.is_empty()) {
            // The wire of runs writes these words with a hyphen.
            self.finish_reason = Some(reason.replace('_', "-"));
        }
        Ok(())
    }

    async fn take_delta<D: Desk>(&mut self, mut delta: Delta, desk: &mut D) -> Result<(), Bad> {
        let thought = readable(delta.thought());
        if !thought.is_empty() {
            self.spend(thought.len())?;
            self.was_told = true;
            self.thoughts.add(thought, desk).await;
        }
        for call in std::mem::take(&mut delta.tool_calls) {
            let bytes = self.calls.add(call).ok_or(Bad::TooManyCalls)?;
            self.spend(bytes)?;
        }
        let text = readable(&delta.text());
        if !text.is_empty() {
            self.spend(text.len())?;
            self.was_told = true;
            self.thoughts.end(desk).await;
            self.text.push_str(&text);
            desk.say(StreamEvent::Text { text }).await;
        }
        Ok(())
    }

    pub async fn finish<D: Desk>(&mut self, desk: &mut D) {
        self.thoughts.end(desk).await;
    }

    fn spend(&mut self, bytes: usize) -> Result<(), Bad> {
        self.left = self.left.checked_sub(bytes).ok_or(Bad::TooLong)?;
        Ok(())
    }
}

/// No text of ours holds a zero: one of the databases cannot keep it.
fn readable(text: &str) -> String {
    text.replace('\0', "\u{FFFD}")
}

impl Thoughts {
    async fn add<D: Desk>(&mut self, text: String, desk: &mut D) {
        let id = match &self.open {
            Some(id) => id.clone(),
            None => {
                let id = format!("thinking-{}-{}", self.round, self.stretch);
                desk.say(StreamEvent::ThinkingStart { id: id.clone() }).await;
                self.open = Some(id.clone());
                id
            }
        };
        desk.say(StreamEvent::Thinking { id, text }).await;
    }

    async fn end<D: Desk>(&mut self, desk: &mut D) {
        if let Some(id) = self.open.take() {
            self.stretch += 1;
            desk.say(StreamEvent::ThinkingEnd { id }).await;
        }
    }
}
