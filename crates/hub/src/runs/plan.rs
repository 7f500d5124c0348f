//! What a run is going to do, and what of it is stored in our own words.

use std::borrow::Cow;

use countersign_core::runs::Policy;
use countersign_protocol::runs::strategy::{AgentKind, Strategy};
use countersign_protocol::runs::{Event, RunInput};
use countersign_store::ops::run::Run as StoredRun;
use serde::{Deserialize, Serialize};

/// All inputs of a run together; the oldest go.
const MAX_INPUTS: usize = 200;
const MAX_INPUT_BYTES: usize = 2 * 1024 * 1024;

/// The same for the whole of a segment. System prompts that are files have been read into the strategy, so that a run needs
/// no file but this.
#[derive(Debug, Clone)]
pub struct RunPlan {
    pub strategy: Strategy,
    pub strategy_path: String,
    pub cwd: String,
    pub model_override: Option<String>,
    pub manifest_path: Option<String>,
}

/// How a segment was begun.
#[derive(Debug, Clone)]
pub struct Segment {
    /// From 1.
    pub number: u64,
    pub input: String,
    /// Of the message that began it.
    pub request_id: Option<String>,
    /// What its first record will be called: the input stands before it.
    pub first_record_id: String,
    /// Those of earlier segments too.
    pub inputs: Vec<RunInput>,
    /// As it was when the segment began, and in the store as it was when the last one ended.
    pub policy: Policy,
}

/// Written when a segment begins, and when it ends with another policy.
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

    /// The model an agent of this name speaks to, if it does.
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

/// What the store kept of a run, read again.
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
    /// Puts the input to those of earlier segments.
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
