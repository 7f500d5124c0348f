use serde::Serialize;

/// A message that was understood.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Received {
    /// Comes back on every reply to it.
    pub request_id: Option<String>,
    pub message: ClientMessage,
}

/// A message that was not understood, and what to tell its sender.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RefusedMessage {
    pub code: &'static str,
    pub message: String,
    pub request_id: Option<String>,
}

/// What a client says.
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
        /// Send first what came after this one.
        #[serde(skip_serializing_if = "Option::is_none")]
        after_seq: Option<u64>,
        /// The client knows messages that are not part of the wire.
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
}

/// A new run of `strategy_path`, or another segment of `run_id`; one of the two is there.
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

/// What an agent may do without being allowed each time.
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

/// What holds where neither list does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum PolicyDefault {
    Allow,
    Deny,
    Ask,
}

/// What a person decided about a permission.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Decision {
    Allow,
    Deny,
    /// From now on in this run.
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

    /// Whether it holds for the rest of the run.
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
    /// The text a client sends.
    pub fn frame(&self, request_id: Option<&str>) -> String {
        serde_json::to_string(&ClientEnvelope {
            message: self,
            request_id,
        })
        .expect("a message has string keys only")
    }
}

/// A run's id is part of addresses, and in other programs a file's name.
pub fn is_run_id(text: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-');
    (1..=128).contains(&text.len()) && !text.starts_with('.') && text.bytes().all(plain)
}
