use super::model::{AgentKind, Flow, FlowKind, Step, Strategy};
use crate::runs::fault::{FaultList, FaultPath};

/// Agent calls in a row without one that waits.
const MAX_CONSECUTIVE_CALLS: u64 = 100_000;

/// Refuses a flow that loops without ever waiting. It would occupy a CPU and the disk for as long as the hub runs, and
/// again after every restart. An observer that never waits would end it only by chance.
pub(super) fn check(strategy: &Strategy, faults: &FaultList) {
    let place = FaultPath::Key(&FaultPath::Root, "flow");
    work(&strategy.flow, place, strategy, faults);
}

/// The calls of a flow, as far as they matter for waiting.
#[derive(Default)]
struct FlowWork {
    /// Agent calls since the last one that waits.
    row: u64,
    waits: bool,
}

/// Reports the innermost flow over the limit, and returns `None` then.
fn work(flow: &Flow, place: FaultPath<'_>, strategy: &Strategy, faults: &FaultList) -> Option<FlowWork> {
    let steps = FaultPath::Key(&place, "steps");
    let mut all = FlowWork::default();
    for (index, step) in flow.steps.iter().enumerate() {
        match step {
            Step::Agent(name) => all.then(&agent(name, strategy)),
            Step::Flow(inner) => all.then(&work(inner, FaultPath::Item(&steps, index), strategy, faults)?),
        }
        all.check(place, faults)?;
    }
    if let FlowKind::Cycle(cycle) = &flow.kind {
        if let Some(name) = &cycle.observer {
            all.then(&agent(name, strategy));
        }
        if !all.waits {
            all.row = all.row.saturating_mul(cycle.cycles.unwrap_or(u64::MAX));
        }
        all.check(place, faults)?;
    }
    Some(all)
}

impl FlowWork {
    fn then(&mut self, next: &Self) {
        self.row = if next.waits {
            next.row
        } else {
            self.row.saturating_add(next.row)
        };
        self.waits |= next.waits;
    }

    fn check(&self, place: FaultPath<'_>, faults: &FaultList) -> Option<()> {
        if self.row <= MAX_CONSECUTIVE_CALLS {
            return Some(());
        }
        let why = format!(
            "would call agents more than {MAX_CONSECUTIVE_CALLS} times in a row without waiting for a person, a model or a \
             command; give it fewer cycles, or a user, llm or command agent"
        );
        faults.add(place, why);
        None
    }
}

fn agent(name: &str, strategy: &Strategy) -> FlowWork {
    let waits = strategy.agent(name).is_some_and(|agent| match &agent.kind {
        AgentKind::User(user) => user.require_input,
        AgentKind::Llm(_) | AgentKind::Command(_) => true,
        AgentKind::Echo | AgentKind::Template { .. } => false,
    });
    FlowWork {
        row: u64::from(!waits),
        waits,
    }
}
