use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// A validated strategy: every agent named by a flow is defined, and no flow loops forever without waiting.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Strategy {
    pub name: String,
    pub version: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// In file order.
    pub agents: Vec<AgentDef>,
    pub flow: Flow,
    /// The flow as written in the file, for clients.
    pub flow_tree: Value,
}

impl Strategy {
    pub fn agent(&self, name: &str) -> Option<&AgentDef> {
        self.agents.iter().find(|agent| agent.name == name)
    }

    pub fn agent_names(&self) -> Vec<String> {
        self.agents.iter().map(|agent| agent.name.clone()).collect()
    }

    /// Checks that every LLM agent has a model; `model_override` applies to all.
    pub fn check_models(&self, model_override: Option<&str>) -> Result<(), String> {
        if model_override.is_some() {
            return Ok(());
        }
        let without = |agent: &&AgentDef| matches!(&agent.kind, AgentKind::Llm(llm) if llm.model.is_none());
        let sentence = |agent: &AgentDef| {
            format!(
                "Agent {:?} has no model. Give it a \"model\" in the strategy, or send modelOverride.",
                agent.name
            )
        };
        let faults: Vec<String> = self.agents.iter().filter(without).map(sentence).collect();
        if faults.is_empty() {
            Ok(())
        } else {
            Err(faults.join("\n"))
        }
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AgentDef {
    pub name: String,
    pub kind: AgentKind,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AgentKind {
    User(UserAgent),
    Llm(Box<LlmAgent>),
    /// Returns its input.
    Echo,
    Template {
        template: String,
    },
    Command(CommandAgent),
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct UserAgent {
    pub require_input: bool,
    pub preset_message: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CommandAgent {
    pub program: String,
    pub args: Vec<String>,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct LlmAgent {
    pub model: Option<String>,
    /// The text, or the name of a .txt or .md file beside the strategy.
    pub system_prompt: Option<String>,
    pub system_prompt_template: Option<PromptTemplate>,
    pub tools: Vec<String>,
    pub provider_options: Option<Map<String, Value>>,
    pub model_options: ModelOptions,
    pub output_schema: Option<Value>,
    pub max_steps: Option<u32>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PromptTemplate {
    pub template: String,
    pub variables: Map<String, Value>,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ModelOptions {
    pub temperature: Option<f64>,
    pub top_p: Option<f64>,
    pub top_k: Option<u64>,
    pub max_output_tokens: Option<u64>,
    pub max_retries: Option<u32>,
    pub frequency_penalty: Option<f64>,
    pub presence_penalty: Option<f64>,
    pub seed: Option<i64>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Flow {
    pub name: String,
    pub kind: FlowKind,
    /// At least one.
    pub steps: Vec<Step>,
}

impl Flow {
    /// The agent that watches the rounds of a cycle, if it has one.
    pub fn observer(&self) -> Option<&str> {
        match &self.kind {
            FlowKind::Cycle(cycle) => cycle.observer.as_deref(),
            FlowKind::Sequential | FlowKind::Broadcast { .. } => None,
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Step {
    Agent(String),
    Flow(Flow),
}

impl Step {
    /// The name used in events.
    pub fn name(&self) -> &str {
        match self {
            Self::Agent(name) => name,
            Self::Flow(flow) => &flow.name,
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FlowKind {
    Sequential,
    Cycle(Cycle),
    Broadcast { separator: String },
}

/// A flow that repeats until its rounds are over or its observer sends a break signal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cycle {
    /// `None` means unlimited.
    pub cycles: Option<u64>,
    pub observer: Option<String>,
    pub signals: Vec<String>,
    pub matching: Match,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Match {
    Substring,
    FirstLine,
    AnyLine,
    Exact,
}
