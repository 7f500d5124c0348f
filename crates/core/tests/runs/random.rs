//! Property test: the machine does the same as a plain recursive interpreter, for any flow.

use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};

use countersign_core::runs::{AgentCall, MachineAction, Output, break_signal};
use countersign_protocol::runs::Usage;
use countersign_protocol::runs::strategy::{Cycle, Flow, FlowKind, Match, Step};
use proptest::prelude::*;
use proptest::sample::{select, subsequence};

use crate::scene::{output, strategy, trace};

const MAX_CALLS: u64 = 60;

fn a_name() -> impl Strategy<Value = String> {
    select(vec!["a", "b", "c"]).prop_map(str::to_owned)
}

fn a_kind() -> impl Strategy<Value = FlowKind> {
    let signals = subsequence(vec!["done", "stop", "b"], 1..=3);
    let matching = select(vec![Match::Substring, Match::FirstLine, Match::AnyLine, Match::Exact]);
    let cycle = (
        prop::option::weighted(0.7, 1..4_u64),
        prop::option::of(a_name()),
        signals,
        matching,
    )
        .prop_map(|(cycles, observer, signals, matching)| {
            let signals = signals.into_iter().map(str::to_owned).collect();
            FlowKind::Cycle(Cycle {
                cycles,
                observer,
                signals,
                matching,
            })
        });
    let broadcast = select(vec!["", "\n\n", "|"]).prop_map(|separator| separator.to_owned());
    prop_oneof![
        Just(FlowKind::Sequential),
        cycle,
        broadcast.prop_map(|separator| FlowKind::Broadcast { separator }),
    ]
}

fn a_flow_of(step: impl Strategy<Value = Step> + 'static) -> BoxedStrategy<Flow> {
    let name = select(vec!["F", "G", "H"]).prop_map(str::to_owned);
    (name, a_kind(), prop::collection::vec(step, 1..4))
        .prop_map(|(name, kind, steps)| Flow { name, kind, steps })
        .boxed()
}

fn a_flow() -> impl Strategy<Value = Flow> {
    let step = a_name().prop_map(Step::Agent).prop_recursive(
        4,
        24,
        3,
        |step| prop_oneof![2 => a_name().prop_map(Step::Agent), 1 => a_flow_of(step).prop_map(Step::Flow)],
    );
    a_flow_of(step)
}

/// Agent outputs depend on the agent, the message, the call number and `seed`.
#[derive(Debug, Clone, Copy)]
struct World {
    seed: u64,
    fails_at: Option<u64>,
}

impl World {
    fn work(self, call: &AgentCall) -> Result<Output, String> {
        if self.fails_at == Some(call.number) {
            return Err(format!("{} fell asleep", call.agent));
        }
        let mut hasher = DefaultHasher::new();
        (self.seed, &call.agent, &call.message, call.number).hash(&mut hasher);
        let number = hasher.finish();
        let text = match number % 7 {
            0 => "done".to_owned(),
            1 => " Stop now\nplease".to_owned(),
            2 => "not yet\ndone so".to_owned(),
            3 => String::new(),
            _ => format!("{}{}", call.agent, call.message.chars().take(12).collect::<String>()),
        };
        Ok(output(text, number % 11, number % 13))
    }
}

enum Halt {
    Enough,
    Failed(String),
}

/// A recursive interpreter of flows, which cannot be stored and resumed.
struct Plain {
    world: World,
    calls: u64,
    seen: Vec<MachineAction>,
}

impl Plain {
    fn run(mut self, flow: &Flow, input: &str) -> Vec<MachineAction> {
        match self.flow(flow, input, true) {
            Ok(output) => self.seen.push(MachineAction::Finished { output }),
            Err(Halt::Failed(message)) => self.seen.push(MachineAction::Failed { message }),
            Err(Halt::Enough) => {}
        }
        self.seen
    }

    fn agent(&mut self, agent: &str, message: &str) -> Result<Output, Halt> {
        let call = AgentCall {
            agent: agent.to_owned(),
            message: message.to_owned(),
            number: self.calls,
        };
        self.seen.push(MachineAction::Call(call.clone()));
        if call.number >= MAX_CALLS {
            return Err(Halt::Enough);
        }
        self.calls += 1;
        self.world.work(&call).map_err(Halt::Failed)
    }

    fn step(&mut self, step: &Step, message: &str, is_told: bool) -> Result<Output, Halt> {
        let name = step.name().to_owned();
        if is_told {
            self.seen.push(MachineAction::StepStarted {
                name: name.clone(),
                message: message.to_owned(),
            });
        }
        let output = match step {
            Step::Agent(agent) => self.agent(agent, message),
            Step::Flow(flow) => self.flow(flow, message, false),
        };
        let output = output.map_err(|halt| within(halt, "Step", &name))?;
        if is_told {
            self.seen.push(MachineAction::StepCompleted {
                name,
                output: output.clone(),
            });
        }
        Ok(output)
    }

    fn flow(&mut self, flow: &Flow, message: &str, is_told: bool) -> Result<Output, Halt> {
        match &flow.kind {
            FlowKind::Sequential => self.all(&flow.steps, message.to_owned(), is_told),
            FlowKind::Broadcast { separator } => {
                let mut usage = Usage::default();
                let mut texts = Vec::new();
                for step in &flow.steps {
                    let output = self.step(step, message, is_told)?;
                    usage.add(output.usage);
                    texts.push(output.text);
                }
                Ok(Output {
                    text: texts.join(separator),
                    usage,
                })
            }
            FlowKind::Cycle(Cycle {
                cycles,
                observer,
                signals,
                matching,
            }) => {
                let mut usage = Usage::default();
                let mut text = message.to_owned();
                for _ in 0..cycles.unwrap_or(u64::MAX) {
                    let round = self.all(&flow.steps, text, is_told)?;
                    usage.add(round.usage);
                    text = round.text;
                    if let Some(observer) = observer {
                        let answer = self
                            .agent(observer, &text)
                            .map_err(|halt| within(halt, "Observer", observer))?;
                        if break_signal::breaks(&answer.text, signals, *matching) {
                            break;
                        }
                        text = answer.text;
                    }
                }
                Ok(Output { text, usage })
            }
        }
    }

    fn all(&mut self, steps: &[Step], mut text: String, is_told: bool) -> Result<Output, Halt> {
        let mut usage = Usage::default();
        for step in steps {
            let output = self.step(step, &text, is_told)?;
            usage.add(output.usage);
            text = output.text;
        }
        Ok(Output { text, usage })
    }
}

fn within(halt: Halt, role: &str, name: &str) -> Halt {
    match halt {
        Halt::Failed(cause) => Halt::Failed(format!("{role} \"{name}\" failed: {cause}")),
        Halt::Enough => Halt::Enough,
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn a_run_stored_after_every_action_does_the_same_as_plain_recursion(
        flow in a_flow(),
        input in select(vec!["", "x", "done"]),
        seed in any::<u64>(),
        fails_at in prop::option::weighted(0.2, 0..20_u64),
    ) {
        let world = World { seed, fails_at };
        let expected = Plain { world, calls: 0, seen: Vec::new() }.run(&flow, input);
        let steps = trace(&strategy(flow), input, MAX_CALLS, |call| world.work(call));
        prop_assert_eq!(steps, expected);
    }
}
