use serde::ser::{Serialize, SerializeStruct, Serializer};
use serde::{Deserialize, Serialize as DeriveSerialize};

use super::{ContextUsage, Usage};
use crate::time::Timestamp;

/// The conversation of a run so far.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
pub struct Conversation {
    pub records: Vec<Record>,
    pub inputs: Vec<RunInput>,
}

/// Written by hand to add the empty list of retention events that clients expect.
impl Serialize for Conversation {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut fields = serializer.serialize_struct("Conversation", 3)?;
        fields.serialize_field("records", &self.records)?;
        fields.serialize_field("retentionEvents", &[(); 0])?;
        fields.serialize_field("inputs", &self.inputs)?;
        fields.end()
    }
}

/// One finished agent call. Stored in the format in which it is sent.
#[derive(Debug, Clone, PartialEq, Eq, DeriveSerialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Record {
    pub id: String,
    pub agent_name: String,
    pub created_at: Timestamp,
    pub user_message: ChatMessage,
    pub response_messages: Vec<ChatMessage>,
    pub text: String,
    pub usage: Usage,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context_usage: Option<ContextUsage>,
    pub finish_reason: String,
}

#[derive(Debug, Clone, PartialEq, Eq, DeriveSerialize, Deserialize)]
pub struct ChatMessage {
    pub role: String,
    pub content: String,
}

impl ChatMessage {
    pub fn user(content: impl Into<String>) -> Self {
        Self {
            role: "user".to_owned(),
            content: content.into(),
        }
    }

    pub fn assistant(content: impl Into<String>) -> Self {
        Self {
            role: "assistant".to_owned(),
            content: content.into(),
        }
    }
}

/// The input of a start or a continuation.
#[derive(Debug, Clone, PartialEq, Eq, DeriveSerialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RunInput {
    pub text: String,
    /// The first record after this input.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before_record_id: Option<String>,
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn conversation() -> Conversation {
        Conversation {
            records: vec![Record {
                id: "c-1".to_owned(),
                agent_name: "writer".to_owned(),
                created_at: Timestamp::from_millis(1_780_588_110_250),
                user_message: ChatMessage::user("tides"),
                response_messages: vec![ChatMessage::assistant("The sea comes and goes.")],
                text: "The sea comes and goes.".to_owned(),
                usage: Usage {
                    prompt_tokens: 3,
                    completion_tokens: 5,
                },
                context_usage: Some(ContextUsage {
                    total_tokens: 8,
                    input_tokens: Some(3),
                    output_tokens: Some(5),
                }),
                finish_reason: "stop".to_owned(),
            }],
            inputs: vec![
                RunInput {
                    text: "tides".to_owned(),
                    before_record_id: Some("c-1".to_owned()),
                },
                RunInput {
                    text: String::new(),
                    before_record_id: None,
                },
            ],
        }
    }

    #[test]
    fn a_conversation_has_exactly_the_fields_of_the_protocol() {
        let expected = json!({
            "records": [{
                "id": "c-1",
                "agentName": "writer",
                "createdAt": "2026-06-04T15:48:30.250Z",
                "userMessage": {"role": "user", "content": "tides"},
                "responseMessages": [{"role": "assistant", "content": "The sea comes and goes."}],
                "text": "The sea comes and goes.",
                "usage": {"promptTokens": 3, "completionTokens": 5},
                "contextUsage": {"totalTokens": 8, "inputTokens": 3, "outputTokens": 5},
                "finishReason": "stop",
            }],
            "retentionEvents": [],
            "inputs": [{"text": "tides", "beforeRecordId": "c-1"}, {"text": ""}],
        });
        assert_eq!(serde_json::to_value(conversation()).unwrap(), expected);
        assert_eq!(
            serde_json::to_string(&Conversation::default()).unwrap(),
            r#"{"records":[],"retentionEvents":[],"inputs":[]}"#
        );
    }

    #[test]
    fn a_stored_record_reads_back() {
        let text = serde_json::to_string(&conversation()).unwrap();
        assert_eq!(serde_json::from_str::<Conversation>(&text).unwrap(), conversation());
    }
}
