//! The plan of a run, and the form in which it is stored.

use std::borrow::Cow;

use countersign_core::runs::Policy;
use countersign_protocol::runs::strategy::{AgentKind, Strategy};
use countersign_protocol::runs::{Event, RunInput};
use countersign_store::ops::run::Run as StoredRun;
use serde::{Deserialize, Serialize};

/// Bounds for all inputs of a run; the oldest are dropped.
const MAX_INPUTS: usize = 200;
const MAX_INPUT_BYTES: usize = 2 * 1024 * 1024;

/// Constant during a segment. System prompt files are already read into the strategy, so the run needs no other file.
#[derive(Debug, Clone)]
pub struct RunPlan {
    pub strategy: Strategy,
    pub strategy_path: String,
    pub cwd: String,
    pub model_override: Option<String>,
    pub manifest_path: Option<String>,
}

/// The start of a segment.
#[derive(Debug, Clone)]
pub struct Segment {
    /// From 1.
    pub number: u64,
    pub input: String,
    /// Request id of the message that started the segment.
    pub request_id: Option<String>,
    /// Id of the first record; the input comes before it.
    pub first_record_id: String,
    /// Includes the inputs of earlier segments.
    pub inputs: Vec<RunInput>,
    /// The policy at the start of the segment; in the store, the policy at the end of the last one.
    pub policy: Policy,
}

/// Written when a segment starts, and when it ends with a changed policy.
#[derive(Serialize, Deserialize)]
struct StoredPlan<'a> {
    strategy: Cow<'a, Strategy>,
    model_override: Option<String>,
    manifest_path: Option<String>,
    input: Cow<'a, str>,
    request_id: Option<String>,
    first_record_id: String,
    inputs: Cow<'a, [RunInput]>,
    #[serde(default)]
    policy: Cow<'a, Policy>,
}

impl RunPlan {
    pub fn started(&self) -> Event {
        Event::StrategyStarted {
            strategy_name: self.strategy.name.clone(),
            agents: self.strategy.agent_names(),
            flow_tree: self.strategy.flow_tree.clone(),
        }
    }

    /// The model of this agent, or `None` if it is not an LLM agent.
    pub fn model_of(&self, agent_name: &str) -> Option<String> {
        match &self.strategy.agent(agent_name)?.kind {
            AgentKind::Llm(llm) => self.model_override.clone().or_else(|| llm.model.clone()),
            AgentKind::User(_) | AgentKind::Echo | AgentKind::Template { .. } | AgentKind::Command(_) => None,
        }
    }

    pub fn body(&self, segment: &Segment) -> Result<String, serde_json::Error> {
        serde_json::to_string(&StoredPlan {
            strategy: Cow::Borrowed(&self.strategy),
            model_override: self.model_override.clone(),
            manifest_path: self.manifest_path.clone(),
            input: Cow::Borrowed(&segment.input),
            request_id: segment.request_id.clone(),
            first_record_id: segment.first_record_id.clone(),
            inputs: Cow::Borrowed(&segment.inputs),
            policy: Cow::Borrowed(&segment.policy),
        })
    }
}

/// Reads the plan and the segment of a stored run.
pub fn read(stored: &StoredRun) -> Result<(RunPlan, Segment), serde_json::Error> {
    let body: StoredPlan<'_> = serde_json::from_str(&stored.body)?;
    let summary = &stored.summary;
    let plan = RunPlan {
        strategy: body.strategy.into_owned(),
        strategy_path: summary.strategy_path.clone(),
        cwd: summary.cwd.clone(),
        model_override: body.model_override,
        manifest_path: body.manifest_path,
    };
    let segment = Segment {
        number: summary.segment,
        input: body.input.into_owned(),
        request_id: body.request_id,
        first_record_id: body.first_record_id,
        inputs: body.inputs.into_owned(),
        policy: body.policy.into_owned(),
    };
    Ok((plan, segment))
}

impl Segment {
    /// Appends the input to those of earlier segments.
    pub fn add_input(mut self) -> Self {
        if !self.input.is_empty() {
            let before_record_id = Some(self.first_record_id.clone());
            self.inputs.push(RunInput {
                text: self.input.clone(),
                before_record_id,
            });
        }
        let bytes = |inputs: &[RunInput]| inputs.iter().map(|input| input.text.len()).sum::<usize>();
        while self.inputs.len() > MAX_INPUTS || bytes(&self.inputs) > MAX_INPUT_BYTES {
            self.inputs.remove(0);
        }
        self
    }
}
