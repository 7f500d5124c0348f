use serde::Serialize;

/// A valid client message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Received {
    /// Echoed in every reply.
    pub request_id: Option<String>,
    pub message: ClientMessage,
}

/// An invalid client message, and the error for its sender.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RefusedMessage {
    pub code: &'static str,
    pub message: String,
    pub request_id: Option<String>,
}

/// A message from a client.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "type", rename_all = "snake_case", rename_all_fields = "camelCase")]
pub enum ClientMessage {
    Ping,
    PrepareRun(PrepareRun),
    StartRun {
        run_id: String,
        input: String,
    },
    ContinueRun {
        run_id: String,
        input: String,
    },
    StopRun {
        run_id: String,
    },
    UserInput {
        run_id: String,
        agent_name: String,
        text: String,
        #[serde(skip_serializing_if = "Option::is_none")]
        input_id: Option<String>,
    },
    PermissionDecision {
        run_id: String,
        permission_request_id: String,
        decision: Decision,
    },
    QuestionResponse {
        run_id: String,
        question_request_id: String,
        response: String,
    },
    SteerRun {
        run_id: String,
        text: String,
    },
    UpdatePolicy(UpdatePolicy),
    Subscribe {
        run_id: String,
        /// Replay the events after this seq first.
        #[serde(skip_serializing_if = "Option::is_none")]
        after_seq: Option<u64>,
        /// The client understands messages beyond the base protocol.
        extensions: bool,
    },
    Unsubscribe {
        run_id: String,
    },
    ListStrategies,
    ListRuns {
        #[serde(skip_serializing_if = "Option::is_none")]
        cwd: Option<String>,
    },
    /// Named model endpoints.
    ListProviders,
    GetAvailableModels,
    ListMcpServers,
    /// Packages of strategies.
    HubList,
    TrashList,
    TrashClear,
}

/// A new run of `strategy_path`, or another segment of `run_id`; at least one of them is set.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PrepareRun {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub run_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub strategy_path: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model_override: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub manifest_path: Option<String>,
}

/// A change of the commands an agent may run without asking.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct UpdatePolicy {
    pub run_id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    pub mode: PolicyMode,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub allow: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub deny: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub default: Option<PolicyDefault>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum PolicyMode {
    Read,
    Write,
}

/// Applies if no rule matches.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum PolicyDefault {
    Allow,
    Deny,
    Ask,
}

/// A person's decision about a permission.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Decision {
    Allow,
    Deny,
    /// For the rest of this run.
    AllowSession,
    DenySession,
}

impl Decision {
    pub const ALL: [Self; 4] = [Self::Allow, Self::Deny, Self::AllowSession, Self::DenySession];

    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::Deny => "deny",
            Self::AllowSession => "allow-session",
            Self::DenySession => "deny-session",
        }
    }

    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|decision| decision.as_str() == word)
    }

    pub const fn allows(self) -> bool {
        matches!(self, Self::Allow | Self::AllowSession)
    }

    /// True if the decision holds for the rest of the run.
    pub const fn is_for_the_session(self) -> bool {
        matches!(self, Self::AllowSession | Self::DenySession)
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ClientEnvelope<'a> {
    #[serde(flatten)]
    message: &'a ClientMessage,
    #[serde(skip_serializing_if = "Option::is_none")]
    request_id: Option<&'a str>,
}

impl ClientMessage {
    /// The JSON a client sends.
    #[expect(
        clippy::expect_used,
        reason = "serialization fails only for map keys that are not strings"
    )]
    pub fn frame(&self, request_id: Option<&str>) -> String {
        serde_json::to_string(&ClientEnvelope {
            message: self,
            request_id,
        })
        .expect("a message has string keys only")
    }
}

/// Run ids are used in URLs, and as file names by other programs.
pub fn is_run_id(text: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-');
    (1..=128).contains(&text.len()) && !text.starts_with('.') && text.bytes().all(plain)
}
