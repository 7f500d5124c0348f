//! The state machine of a flow. Its position is a stack, so that it can be stored between any two actions and resumed.

use std::mem::{replace, take};

use countersign_protocol::runs::Usage;
use countersign_protocol::runs::strategy::{Cycle, Flow, FlowKind, Step, Strategy};
use serde::{Deserialize, Serialize};

use super::break_signal;
use super::text::{TooLong, check_bytes};

/// The error for a stored stack that does not match the strategy.
const STRATEGY_MISMATCH: &str = "the stored position of the run does not match its strategy";

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

/// One segment of a run. It holds the texts still needed, but not the strategy, which every call passes in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Machine {
    /// From the top-level flow to the active one. Empty at the end.
    frames: Vec<FlowFrame>,
    #[serde(rename = "at")]
    progress: StepProgress,
    /// Number of finished agent calls.
    calls: u64,
}

/// Progress of the current step of the last frame.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum StepProgress {
    /// The step is the next one; its start is not reported yet.
    Ready,
    /// Its start is reported; its agent is not called, or its flow not entered, yet.
    Started,
    /// The agent is called, and its output is awaited.
    Called,
    /// The step has an output; its end is not reported yet.
    Supplied(Output),
    /// Its end is reported; the flow moves on.
    Completed(Output),
    /// The run has ended with this output.
    Finished(Output),
    /// The run has failed with this message.
    Failed(String),
}

/// An action to report, `None` to continue, or why the flow cannot go on.
type NextAction = Result<Option<MachineAction>, String>;

impl Machine {
    pub fn start(input: &str) -> Self {
        Self {
            frames: vec![FlowFrame::new(input.to_owned())],
            progress: StepProgress::Ready,
            calls: 0,
        }
    }

    /// Number of finished agent calls in this segment.
    pub fn calls(&self) -> u64 {
        self.calls
    }

    pub fn next(&mut self, strategy: &Strategy) -> MachineAction {
        loop {
            let next = match replace(&mut self.progress, StepProgress::Ready) {
                StepProgress::Ready => {
                    self.progress = StepProgress::Started;
                    self.reported_step(strategy)
                        .map(|step| step.map(|(name, message)| MachineAction::StepStarted { name, message }))
                }
                StepProgress::Started => self.enter(strategy, false),
                StepProgress::Called => self.enter(strategy, true),
                StepProgress::Supplied(output) => {
                    self.progress = StepProgress::Completed(output.clone());
                    self.reported_step(strategy)
                        .map(|step| step.map(|(name, _)| MachineAction::StepCompleted { name, output }))
                }
                StepProgress::Completed(output) => self.advance(strategy, output),
                StepProgress::Finished(output) => {
                    self.progress = StepProgress::Finished(output.clone());
                    Ok(Some(MachineAction::Finished { output }))
                }
                StepProgress::Failed(message) => {
                    self.progress = StepProgress::Failed(message.clone());
                    Ok(Some(MachineAction::Failed { message }))
                }
            };
            match next {
                Ok(Some(action)) => return action,
                Ok(None) => {}
                Err(cause) => self.progress = StepProgress::Failed(self.failure(strategy, &cause)),
            }
        }
    }

    /// Supplies the output of the called agent. Does nothing if no call is pending.
    pub fn supply(&mut self, strategy: &Strategy, output: Output) {
        if self.progress != StepProgress::Called {
            return;
        }
        self.calls = self.calls.saturating_add(1);
        self.progress = match check_bytes(output.text.len()) {
            Ok(()) => StepProgress::Supplied(output),
            Err(too_long) => StepProgress::Failed(self.failure(strategy, &too_long.to_string())),
        };
    }

    /// The error of the run if the current agent fails.
    pub fn failure(&self, strategy: &Strategy, cause: &str) -> String {
        failure(strategy, &self.frames, cause)
    }

    /// Enters a nested flow, or calls the agent of the current step. A step that was called before cannot be a flow.
    fn enter(&mut self, strategy: &Strategy, is_called: bool) -> NextAction {
        let flow = current_flow(strategy, &self.frames).ok_or(STRATEGY_MISMATCH)?;
        let frame = self.frames.last_mut().ok_or(STRATEGY_MISMATCH)?;
        let agent = match frame.work(flow).ok_or(STRATEGY_MISMATCH)? {
            CurrentWork::Step(Step::Flow(_)) if is_called => return Err(STRATEGY_MISMATCH.to_owned()),
            CurrentWork::Step(Step::Flow(_)) => {
                let message = frame.take_message(flow);
                self.frames.push(FlowFrame::new(message));
                return Ok(None);
            }
            CurrentWork::Step(Step::Agent(name)) => name.clone(),
            CurrentWork::Observer(name) => name.to_owned(),
        };
        self.progress = StepProgress::Called;
        Ok(Some(MachineAction::Call(AgentCall {
            agent,
            message: frame.message().to_owned(),
            number: self.calls,
        })))
    }

    fn advance(&mut self, strategy: &Strategy, output: Output) -> NextAction {
        let flow = current_flow(strategy, &self.frames).ok_or(STRATEGY_MISMATCH)?;
        let frame = self.frames.last_mut().ok_or(STRATEGY_MISMATCH)?;
        if let Some(output) = frame.absorb(flow, output).map_err(|too_long| too_long.to_string())? {
            self.frames.pop();
            self.progress = if self.frames.is_empty() {
                StepProgress::Finished(output)
            } else {
                StepProgress::Supplied(output)
            };
        }
        Ok(None)
    }

    /// Name and message of the current step, if it is reported: not nested and not an observer.
    fn reported_step(&self, strategy: &Strategy) -> Result<Option<(String, String)>, String> {
        let [frame] = self.frames.as_slice() else {
            return Ok(None);
        };
        match frame.work(&strategy.flow).ok_or(STRATEGY_MISMATCH)? {
            CurrentWork::Step(step) => Ok(Some((step.name().to_owned(), frame.message().to_owned()))),
            CurrentWork::Observer(_) => Ok(None),
        }
    }
}

/// One active flow: its position, and how it consumes the output of a step.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct FlowFrame {
    /// Index of the current step; past the last one, the observer is current.
    step: usize,
    /// Input of the current step, or the result of the steps while the observer runs. Emptied once it is no longer
    /// needed.
    message: String,
    /// For a broadcast: the joined outputs so far.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    joined: String,
    /// Completed rounds of a cycle.
    rounds: u64,
    usage: Usage,
}

enum CurrentWork<'s> {
    Step(&'s Step),
    Observer(&'s str),
}

impl FlowFrame {
    fn new(message: String) -> Self {
        Self {
            step: 0,
            message,
            joined: String::new(),
            rounds: 0,
            usage: Usage::default(),
        }
    }

    fn message(&self) -> &str {
        &self.message
    }

    fn work<'s>(&self, flow: &'s Flow) -> Option<CurrentWork<'s>> {
        let step = flow.steps.get(self.step).map(CurrentWork::Step);
        step.or_else(|| flow.observer().map(CurrentWork::Observer))
    }

    /// The message for a nested flow. Only a broadcast needs it again.
    fn take_message(&mut self, flow: &Flow) -> String {
        match flow.kind {
            FlowKind::Broadcast { .. } => self.message.clone(),
            FlowKind::Sequential | FlowKind::Cycle(_) => take(&mut self.message),
        }
    }

    /// Consumes the output of a step. Returns the output of the flow once the flow is done.
    fn absorb(&mut self, flow: &Flow, output: Output) -> Result<Option<Output>, TooLong> {
        match &flow.kind {
            FlowKind::Sequential => Ok(self.pass_on(flow, output)),
            FlowKind::Broadcast { separator } => self.join(flow, output, separator),
            FlowKind::Cycle(cycle) => Ok(self.next_round(flow, output, cycle)),
        }
    }

    fn pass_on(&mut self, flow: &Flow, output: Output) -> Option<Output> {
        self.usage.add(output.usage);
        self.message = output.text;
        self.step += 1;
        (self.step >= flow.steps.len()).then(|| self.result())
    }

    fn join(&mut self, flow: &Flow, output: Output, separator: &str) -> Result<Option<Output>, TooLong> {
        let separator = if self.step == 0 { "" } else { separator };
        check_bytes(self.joined.len() + separator.len() + output.text.len())?;
        self.usage.add(output.usage);
        self.joined.push_str(separator);
        self.joined.push_str(&output.text);
        self.step += 1;
        if self.step < flow.steps.len() {
            return Ok(None);
        }
        self.message = take(&mut self.joined);
        Ok(Some(self.result()))
    }

    /// The usage of an observer does not count for the flow.
    fn next_round(&mut self, flow: &Flow, output: Output, cycle: &Cycle) -> Option<Output> {
        if self.step >= flow.steps.len() {
            if break_signal::breaks(&output.text, &cycle.signals, cycle.matching) {
                return Some(self.result());
            }
            self.message = output.text;
        } else {
            self.usage.add(output.usage);
            self.message = output.text;
            self.step += 1;
            if self.step < flow.steps.len() || cycle.observer.is_some() {
                return None;
            }
        }
        self.rounds = self.rounds.saturating_add(1);
        if cycle.cycles.is_some_and(|cycles| self.rounds >= cycles) {
            return Some(self.result());
        }
        self.step = 0;
        None
    }

    fn result(&mut self) -> Output {
        Output {
            text: take(&mut self.message),
            usage: self.usage,
        }
    }
}

/// The active flow, which the last frame belongs to.
fn current_flow<'s>(strategy: &'s Strategy, frames: &[FlowFrame]) -> Option<&'s Flow> {
    let (_, outer) = frames.split_last()?;
    outer
        .iter()
        .try_fold(&strategy.flow, |flow, frame| match frame.work(flow)? {
            CurrentWork::Step(Step::Flow(inner)) => Some(inner),
            CurrentWork::Step(Step::Agent(_)) | CurrentWork::Observer(_) => None,
        })
}

/// Names the failed step of every level.
fn failure(strategy: &Strategy, frames: &[FlowFrame], cause: &str) -> String {
    let mut message = String::new();
    let mut flow = Some(&strategy.flow);
    for frame in frames {
        let Some(work) = flow.and_then(|flow| frame.work(flow)) else {
            break;
        };
        let (role, name) = match work {
            CurrentWork::Step(step) => ("Step", step.name()),
            CurrentWork::Observer(name) => ("Observer", name),
        };
        message.push_str(&format!("{role} \"{name}\" failed: "));
        flow = match work {
            CurrentWork::Step(Step::Flow(inner)) => Some(inner),
            CurrentWork::Step(Step::Agent(_)) | CurrentWork::Observer(_) => None,
        };
    }
    message + cause
}
