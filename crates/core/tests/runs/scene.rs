//! Strategies without a file, agents without a model, and a run that is stored and restored between any two actions.

use countersign_core::runs::{AgentCall, Machine, MachineAction, Output};
use countersign_protocol::runs::Usage;
use countersign_protocol::runs::strategy::{Cycle, Flow, FlowKind, Match, Step, Strategy};
use serde_json::Value;

pub fn agent(name: &str) -> Step {
    Step::Agent(name.to_owned())
}

pub fn agents(names: &[&str]) -> Vec<Step> {
    names.iter().map(|name| agent(name)).collect()
}

pub fn sequence(name: &str, steps: Vec<Step>) -> Flow {
    Flow {
        name: name.to_owned(),
        kind: FlowKind::Sequential,
        steps,
    }
}

pub fn broadcast(name: &str, separator: &str, steps: Vec<Step>) -> Flow {
    Flow {
        name: name.to_owned(),
        kind: FlowKind::Broadcast {
            separator: separator.to_owned(),
        },
        steps,
    }
}

/// The break signal is `done` on the first line.
pub fn cycle(name: &str, cycles: Option<u64>, observer: Option<&str>, steps: Vec<Step>) -> Flow {
    let observer = observer.map(str::to_owned);
    let kind = FlowKind::Cycle(Cycle {
        cycles,
        observer,
        signals: vec!["done".to_owned()],
        matching: Match::FirstLine,
    });
    Flow {
        name: name.to_owned(),
        kind,
        steps,
    }
}

pub fn strategy(flow: Flow) -> Strategy {
    Strategy {
        name: "Test".to_owned(),
        version: "1".to_owned(),
        description: None,
        agents: Vec::new(),
        flow,
        flow_tree: Value::Null,
    }
}

pub fn output(text: impl Into<String>, prompt_tokens: u64, completion_tokens: u64) -> Output {
    Output {
        text: text.into(),
        usage: Usage {
            prompt_tokens,
            completion_tokens,
        },
    }
}

/// Returns `name(message)`, with a usage of one prompt token and two completion tokens.
pub fn wraps(call: &AgentCall) -> Result<Output, String> {
    Ok(output(format!("{}({})", call.agent, call.message), 1, 2))
}

/// The actions of the run until it ended or made `calls` calls.
pub fn trace(
    strategy: &Strategy,
    input: &str,
    calls: u64,
    mut work: impl FnMut(&AgentCall) -> Result<Output, String>,
) -> Vec<MachineAction> {
    let mut machine = Machine::start(input);
    let mut seen = Vec::new();
    loop {
        machine = taken_up(&machine);
        let action = machine.next(strategy);
        seen.push(action.clone());
        let MachineAction::Call(call) = action else {
            match seen.last() {
                Some(MachineAction::Finished { .. } | MachineAction::Failed { .. }) => return seen,
                _ => continue,
            }
        };
        if call.number >= calls {
            return seen;
        }
        machine = taken_up(&machine);
        match work(&call) {
            Ok(output) => machine.supply(strategy, output),
            Err(cause) => {
                seen.push(MachineAction::Failed {
                    message: machine.failure(strategy, &cause),
                });
                return seen;
            }
        }
    }
}

/// The end of a run that is never stored, because storing long texts is slow.
pub fn end(strategy: &Strategy, input: &str, work: impl Fn(&AgentCall) -> Output) -> MachineAction {
    let mut machine = Machine::start(input);
    loop {
        match machine.next(strategy) {
            MachineAction::Call(call) => machine.supply(strategy, work(&call)),
            MachineAction::StepStarted { .. } | MachineAction::StepCompleted { .. } => {}
            end @ (MachineAction::Finished { .. } | MachineAction::Failed { .. }) => return end,
        }
    }
}

pub fn taken_up(machine: &Machine) -> Machine {
    let text = serde_json::to_string(machine).expect("a place can be written");
    let again = serde_json::from_str(&text).expect("and read");
    assert_eq!(machine, &again);
    again
}

/// The run in short lines: `> name message`, `! agent message`, `< name text`, `= text`, `x message`.
pub fn lines(actions: &[MachineAction]) -> Vec<String> {
    let line = |action: &MachineAction| match action {
        MachineAction::StepStarted { name, message } => format!("> {name} {message}"),
        MachineAction::Call(call) => format!("! {} {}", call.agent, call.message),
        MachineAction::StepCompleted { name, output } => format!("< {name} {}", output.text),
        MachineAction::Finished { output } => format!("= {}", output.text),
        MachineAction::Failed { message } => format!("x {message}"),
    };
    actions.iter().map(line).collect()
}

pub fn run(flow: Flow, input: &str) -> Vec<String> {
    lines(&trace(&strategy(flow), input, 100, wraps))
}

/// The usage of the steps and of the whole run.
pub fn usages(actions: &[MachineAction]) -> Vec<(u64, u64)> {
    let usage = |action: &MachineAction| match action {
        MachineAction::StepCompleted { output, .. } | MachineAction::Finished { output } => {
            Some((output.usage.prompt_tokens, output.usage.completion_tokens))
        }
        MachineAction::StepStarted { .. } | MachineAction::Call(_) | MachineAction::Failed { .. } => None,
    };
    actions.iter().filter_map(usage).collect()
}
