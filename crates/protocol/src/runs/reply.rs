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
    /// The endpoints under `llm.providers`.
    ProviderList {
        providers: Vec<Provider>,
    },
    /// Always empty: a hub knows endpoints, not their models.
    AvailableModels {
        models: [(); 0],
    },
    /// Always empty: the hub starts no MCP servers.
    McpServerList {
        servers: [(); 0],
    },
    /// Always empty: the hub installs no packages.
    HubPackages {
        operation: PackageOperation,
        available: [(); 0],
        installed: [(); 0],
    },
    /// Always empty: agents of the hub delete no files.
    TrashListResult {
        workspaces: [(); 0],
        total_entries: u64,
        total_bytes: u64,
    },
    TrashClearResult {
        cleared: u64,
        bytes_freed: u64,
    },
    /// Sent only to connections that subscribed with `extensions`: the ask was resolved, so clients can stop prompting.
    InputResolved {
        run_id: String,
        agent_name: String,
        input_id: String,
    },
}

/// A model endpoint with a name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Provider {
    /// The prefix of its models.
    pub id: String,
    pub name: String,
    pub auth_status: AuthStatus,
    /// Always empty: a hub knows endpoints, not their models.
    pub models: [(); 0],
    pub models_source: ModelsSource,
    /// True if the provider comes from the configuration, not from a public catalog.
    pub is_custom: bool,
}

impl Provider {
    pub fn configured(name: &str, auth_status: AuthStatus) -> Self {
        Self {
            id: name.to_owned(),
            name: name.to_owned(),
            auth_status,
            models: [],
            models_source: ModelsSource::Catalog,
            is_custom: true,
        }
    }
}

/// Whether the endpoint has an API key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AuthStatus {
    None,
    Configured,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ModelsSource {
    /// Not asked of the endpoint.
    Catalog,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PackageOperation {
    List,
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
    pub const NO_MODELS: Self = Self::AvailableModels { models: [] };
    pub const NO_MCP_SERVERS: Self = Self::McpServerList { servers: [] };
    pub const NO_PACKAGES: Self = Self::HubPackages {
        operation: PackageOperation::List,
        available: [],
        installed: [],
    };
    pub const EMPTY_TRASH: Self = Self::TrashListResult {
        workspaces: [],
        total_entries: 0,
        total_bytes: 0,
    };
    pub const NOTHING_CLEARED: Self = Self::TrashClearResult {
        cleared: 0,
        bytes_freed: 0,
    };

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
