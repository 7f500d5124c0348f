use countersign_protocol::runs::Usage;
use serde::{Deserialize, Serialize};

/// What an agent, a step or a flow came to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Output {
    pub text: String,
    pub usage: Usage,
}

/// What the run does next. The steps told of are those of the strategy's own flow; a flow inside of it is one step.
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
    /// The same one comes again until its output is supplied.
    Call(AgentCall),
    /// The same one comes again, like the one below.
    Finished {
        output: Output,
    },
    /// The flow itself cannot go on; the message is complete, as `Machine::failure` makes it.
    Failed {
        message: String,
    },
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentCall {
    pub agent: String,
    pub message: String,
    /// From 0 in the segment.
    pub number: u64,
}
