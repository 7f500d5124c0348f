use std::mem::replace;

use countersign_protocol::runs::strategy::{Step, Strategy};
use serde::{Deserialize, Serialize};

use super::action::{AgentCall, MachineAction, Output};
use super::frame::{CurrentWork, FlowFrame};
use super::position::{self, STRATEGY_MISMATCH};
use crate::runs::text::check_bytes;

/// One segment of a run. It holds the texts still needed, but not the strategy, which every call passes in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Machine {
    /// From the top-level flow to the active one. Empty at the end.
    frames: Vec<FlowFrame>,
    at: At,
    /// Number of finished agent calls.
    calls: u64,
}

/// Progress of the current step of the last frame.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum At {
    Ready,
    Started,
    Called,
    Supplied(Output),
    Completed(Output),
    Finished(Output),
    Failed(String),
}

/// An action to report, `None` to continue, or why the flow cannot go on.
type Move = Result<Option<MachineAction>, String>;

impl Machine {
    pub fn start(input: &str) -> Self {
        Self {
            frames: vec![FlowFrame::new(input.to_owned())],
            at: At::Ready,
            calls: 0,
        }
    }

    /// Number of finished agent calls in this segment.
    pub fn calls(&self) -> u64 {
        self.calls
    }

    pub fn next(&mut self, strategy: &Strategy) -> MachineAction {
        loop {
            let moved = match replace(&mut self.at, At::Ready) {
                At::Ready => self.ready(strategy),
                At::Started => self.enter(strategy),
                At::Called => self.call(strategy),
                At::Supplied(output) => self.complete(strategy, output),
                At::Completed(output) => self.advance(strategy, output),
                At::Finished(output) => Ok(Some(self.finish(output))),
                At::Failed(message) => Ok(Some(self.fail(message))),
            };
            match moved {
                Ok(Some(action)) => return action,
                Ok(None) => {}
                Err(cause) => self.at = At::Failed(self.failure(strategy, &cause)),
            }
        }
    }

    /// Supplies the output of the called agent. Does nothing if no call is pending.
    pub fn supply(&mut self, strategy: &Strategy, output: Output) {
        if self.at != At::Called {
            return;
        }
        self.calls = self.calls.saturating_add(1);
        self.at = match check_bytes(output.text.len()) {
            Ok(()) => At::Supplied(output),
            Err(too_long) => At::Failed(self.failure(strategy, &too_long.to_string())),
        };
    }

    /// The error of the run if the current agent fails.
    pub fn failure(&self, strategy: &Strategy, cause: &str) -> String {
        position::failure(strategy, &self.frames, cause)
    }

    fn ready(&mut self, strategy: &Strategy) -> Move {
        self.at = At::Started;
        Ok(self
            .reported_step(strategy)?
            .map(|(name, message)| MachineAction::StepStarted { name, message }))
    }

    fn enter(&mut self, strategy: &Strategy) -> Move {
        let flow = position::flow(strategy, &self.frames).ok_or(STRATEGY_MISMATCH)?;
        let frame = self.frames.last_mut().ok_or(STRATEGY_MISMATCH)?;
        match frame.work(flow).ok_or(STRATEGY_MISMATCH)? {
            CurrentWork::Step(Step::Flow(_)) => {
                let message = frame.take_message(flow);
                self.frames.push(FlowFrame::new(message));
                self.at = At::Ready;
                Ok(None)
            }
            CurrentWork::Step(Step::Agent(_)) | CurrentWork::Observer(_) => self.call(strategy),
        }
    }

    fn call(&mut self, strategy: &Strategy) -> Move {
        let flow = position::flow(strategy, &self.frames).ok_or(STRATEGY_MISMATCH)?;
        let frame = self.frames.last().ok_or(STRATEGY_MISMATCH)?;
        let agent = match frame.work(flow).ok_or(STRATEGY_MISMATCH)? {
            CurrentWork::Step(Step::Agent(name)) => name.clone(),
            CurrentWork::Observer(name) => name.to_owned(),
            CurrentWork::Step(Step::Flow(_)) => return Err(STRATEGY_MISMATCH.to_owned()),
        };
        self.at = At::Called;
        Ok(Some(MachineAction::Call(AgentCall {
            agent,
            message: frame.message().to_owned(),
            number: self.calls,
        })))
    }

    fn complete(&mut self, strategy: &Strategy, output: Output) -> Move {
        let told = self.reported_step(strategy)?;
        let action = told.map(|(name, _)| MachineAction::StepCompleted {
            name,
            output: output.clone(),
        });
        self.at = At::Completed(output);
        Ok(action)
    }

    fn advance(&mut self, strategy: &Strategy, output: Output) -> Move {
        let flow = position::flow(strategy, &self.frames).ok_or(STRATEGY_MISMATCH)?;
        let frame = self.frames.last_mut().ok_or(STRATEGY_MISMATCH)?;
        if let Some(output) = frame.absorb(flow, output).map_err(|too_long| too_long.to_string())? {
            self.frames.pop();
            self.at = if self.frames.is_empty() {
                At::Finished(output)
            } else {
                At::Supplied(output)
            };
        }
        Ok(None)
    }

    fn finish(&mut self, output: Output) -> MachineAction {
        self.at = At::Finished(output.clone());
        MachineAction::Finished { output }
    }

    fn fail(&mut self, message: String) -> MachineAction {
        self.at = At::Failed(message.clone());
        MachineAction::Failed { message }
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
