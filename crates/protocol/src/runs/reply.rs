use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Conversation, RefusedMessage, RunStatus};
use crate::time::Timestamp;

/// A reply to one connection.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case", rename_all_fields = "camelCase")]
pub enum RunReply {
    Pong,
    Error {
        code: String,
        message: String,
    },
    RunPrepared {
        run_id: String,
        strategy_name: String,
        agents: Vec<String>,
        /// The flow as written in the strategy file.
        flow_tree: Value,
        conversation: Conversation,
    },
    StrategyList {
        runs: Vec<LiveRun>,
    },
    RunList {
        runs: Vec<ListedRun>,
    },
    /// Sent only to connections that subscribed with `extensions`: the ask was resolved, so clients can stop prompting.
    InputResolved {
        run_id: String,
        agent_name: String,
        input_id: String,
    },
}

/// A run in the memory of this hub.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct LiveRun {
    pub run_id: String,
    pub strategy_name: String,
    pub status: RunStatus,
    pub started_at: Timestamp,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub completed_at: Option<Timestamp>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pending_inputs: Vec<PendingInput>,
}

/// An input a run waits for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PendingInput {
    pub agent_name: String,
    pub input_id: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prompt: Option<String>,
    pub ts: Timestamp,
}

/// A run in the store.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ListedRun {
    pub run_id: String,
    pub cwd: String,
    pub strategy_name: String,
    pub strategy_path: String,
    pub started_at: Timestamp,
    /// The only field that is `null` instead of omitted.
    pub completed_at: Option<Timestamp>,
    pub status: RunStatus,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ReplyEnvelope<'a> {
    #[serde(flatten)]
    reply: &'a RunReply,
    /// Always empty: clients expect the list, but the hub starts no MCP servers.
    #[serde(skip_serializing_if = "Option::is_none")]
    mcp_servers: Option<[(); 0]>,
    ts: Timestamp,
    #[serde(skip_serializing_if = "Option::is_none")]
    request_id: Option<&'a str>,
}

impl RunReply {
    pub fn error(code: impl Into<String>, message: impl Into<String>) -> Self {
        Self::Error {
            code: code.into(),
            message: message.into(),
        }
    }

    /// The JSON sent to the client; `request_id` is that of its message.
    #[expect(
        clippy::expect_used,
        reason = "serialization fails only for map keys that are not strings"
    )]
    pub fn frame(&self, ts: Timestamp, request_id: Option<&str>) -> String {
        let mcp_servers = matches!(self, Self::RunPrepared { .. }).then_some([]);
        let frame = ReplyEnvelope {
            reply: self,
            mcp_servers,
            ts,
            request_id,
        };
        serde_json::to_string(&frame).expect("a reply has string keys only")
    }
}

impl From<&RefusedMessage> for RunReply {
    fn from(refused: &RefusedMessage) -> Self {
        Self::error(refused.code, &refused.message)
    }
}
