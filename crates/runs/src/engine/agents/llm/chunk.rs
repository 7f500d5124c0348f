//! Streamed chunks, limited to the fields we read. Servers differ in which fields they add or leave out.

use countersign_protocol::runs::Usage;
use serde::{Deserialize, Deserializer};
use serde_json::Value;

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct Chunk {
    #[serde(deserialize_with = "or_nothing")]
    pub choices: Vec<LlmChoice>,
    pub usage: Option<TokenCounts>,
    /// Some servers report an error in the middle of a stream.
    pub error: Option<Value>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct LlmChoice {
    pub index: Option<u64>,
    pub delta: Option<Delta>,
    /// The complete answer, from a server that does not stream.
    pub message: Option<Delta>,
    pub finish_reason: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct Delta {
    pub content: Option<LlmContent>,
    pub refusal: Option<String>,
    pub reasoning_content: Option<Value>,
    pub reasoning: Option<Value>,
    #[serde(deserialize_with = "or_nothing")]
    pub tool_calls: Vec<CallDelta>,
}

impl Delta {
    /// Reasoning text, under either of the two field names in use.
    pub fn thought(&self) -> &str {
        let told = [&self.reasoning_content, &self.reasoning].into_iter().flatten();
        told.filter_map(Value::as_str)
            .find(|text| !text.is_empty())
            .unwrap_or_default()
    }

    pub fn text(self) -> String {
        let content = self.content.map(LlmContent::into_text).filter(|text| !text.is_empty());
        content.or(self.refusal).unwrap_or_default()
    }
}

#[derive(Debug, Deserialize)]
#[serde(untagged)]
pub enum LlmContent {
    Text(String),
    Parts(Vec<LlmPart>),
}

impl LlmContent {
    fn into_text(self) -> String {
        match self {
            Self::Text(text) => text,
            Self::Parts(parts) => parts.into_iter().map(|part| part.text).collect(),
        }
    }
}

#[derive(Debug, Deserialize)]
pub struct LlmPart {
    #[serde(default)]
    pub text: String,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct CallDelta {
    pub index: Option<u64>,
    pub id: Option<String>,
    pub function: Option<FunctionDelta>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct FunctionDelta {
    pub name: Option<String>,
    pub arguments: Option<Arguments>,
}

/// A text that comes in deltas; a few servers send the JSON object itself.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
pub enum Arguments {
    Piece(String),
    Whole(Value),
}

impl Arguments {
    pub fn into_text(self) -> String {
        match self {
            Self::Piece(text) => text,
            Self::Whole(value) => value.to_string(),
        }
    }
}

#[derive(Debug, Default, Clone, Copy, Deserialize)]
#[serde(default)]
pub struct TokenCounts {
    pub prompt_tokens: Option<u64>,
    pub completion_tokens: Option<u64>,
}

impl From<TokenCounts> for Usage {
    fn from(counts: TokenCounts) -> Self {
        Self {
            prompt_tokens: counts.prompt_tokens.unwrap_or_default(),
            completion_tokens: counts.completion_tokens.unwrap_or_default(),
        }
    }
}

/// Reads `null` as an empty list.
fn or_nothing<'de, D: Deserializer<'de>, T: Deserialize<'de>>(deserializer: D) -> Result<Vec<T>, D::Error> {
    Option::<Vec<T>>::deserialize(deserializer).map(Option::unwrap_or_default)
}
