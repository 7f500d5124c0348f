use countersign_protocol::runs::Usage;
use serde::{Deserialize, Serialize};

/// The output of an agent, a step or a flow.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Output {
    pub text: String,
    pub usage: Usage,
}

/// The next action of a run. Only steps of the top-level flow are reported; a nested flow counts as one step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MachineAction {
    StepStarted {
        name: String,
        message: String,
    },
    StepCompleted {
        name: String,
        output: Output,
    },
    /// Returned again until its output is supplied.
    Call(AgentCall),
    /// Final: returned again on every call, like `Failed`.
    Finished {
        output: Output,
    },
    /// The flow cannot go on. The message is complete, as built by `Machine::failure`.
    Failed {
        message: String,
    },
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentCall {
    pub agent: String,
    pub message: String,
    /// Counts from 0 within the segment.
    pub number: u64,
}
