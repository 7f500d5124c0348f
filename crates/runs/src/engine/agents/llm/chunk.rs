//! Streamed chunks, limited to the fields we read. Servers differ in which fields they add or leave out.

use countersign_protocol::runs::{ContextUsage, Usage};
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
        let found = [&self.reasoning_content, &self.reasoning].into_iter().flatten();
        found
            .filter_map(Value::as_str)
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
    pub total_tokens: Option<u64>,
}

impl TokenCounts {
    /// `None` if the endpoint reports neither both parts nor the total, or only zeros.
    pub fn context_usage(self) -> Option<ContextUsage> {
        let sum = self.prompt_tokens.zip(self.completion_tokens);
        let sum = sum.map(|(input, output)| input.saturating_add(output));
        Some(ContextUsage {
            total_tokens: sum.or(self.total_tokens).filter(|&total| total > 0)?,
            input_tokens: self.prompt_tokens,
            output_tokens: self.completion_tokens,
        })
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn context_usage_is_only_what_the_endpoint_reported() {
        let usage = |text: &str| serde_json::from_str::<TokenCounts>(text).unwrap().context_usage();
        let of = |total_tokens, input_tokens, output_tokens| {
            Some(ContextUsage {
                total_tokens,
                input_tokens,
                output_tokens,
            })
        };
        assert_eq!(
            usage(r#"{"prompt_tokens": 7, "completion_tokens": 5, "total_tokens": 0}"#),
            of(12, Some(7), Some(5))
        );
        assert_eq!(
            usage(r#"{"prompt_tokens": 7, "total_tokens": 9}"#),
            of(9, Some(7), None)
        );
        assert_eq!(usage(r#"{"total_tokens": 9}"#), of(9, None, None));
        for nothing in [
            "{}",
            r#"{"prompt_tokens": 7}"#,
            r#"{"prompt_tokens": 0, "completion_tokens": 0}"#,
            r#"{"total_tokens": 0}"#,
        ] {
            assert_eq!(usage(nothing), None, "{nothing}");
        }
    }
}
