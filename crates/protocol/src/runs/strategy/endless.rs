use super::error::StrategyError;
use super::model::{AgentKind, Flow, FlowKind, Step, Strategy};

/// So many agents may be called one after the other, none of which waits for anybody.
const MAX_CONSECUTIVE_CALLS: u64 = 100_000;

/// A flow that goes round and round and never waits would keep a processor and the disk busy for as long as the hub runs, and
/// after every restart again. An observer that never waits ends it by chance at most.
pub(super) fn check(strategy: &Strategy) -> Result<(), StrategyError> {
    work(&strategy.flow, strategy).map(drop).map_err(|flow| {
        StrategyError::Endless(format!(
            "Flow {flow:?} would call agents more than {MAX_CONSECUTIVE_CALLS} times in a row without waiting for a person, a model or a command. \
             Give it fewer cycles, or a user, llm or command agent."
        ))
    })
}

/// What happens in a flow without anybody to wait for.
#[derive(Default)]
struct FlowWork {
    /// How many agents are called since it waited last.
    row: u64,
    waits: bool,
}

/// Or the name of the innermost flow that is too much.
fn work<'s>(flow: &'s Flow, strategy: &Strategy) -> Result<FlowWork, &'s str> {
    let mut all = FlowWork::default();
    for step in &flow.steps {
        match step {
            Step::Agent(name) => all.then(&agent(name, strategy)),
            Step::Flow(inner) => all.then(&work(inner, strategy)?),
        }
        all.check(flow)?;
    }
    if let FlowKind::Cycle { cycles, observer, .. } = &flow.kind {
        if let Some(name) = observer {
            all.then(&agent(name, strategy));
        }
        if !all.waits {
            all.row = all.row.saturating_mul(cycles.unwrap_or(u64::MAX));
        }
        all.check(flow)?;
    }
    Ok(all)
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

    fn check<'s>(&self, flow: &'s Flow) -> Result<(), &'s str> {
        if self.row > MAX_CONSECUTIVE_CALLS {
            Err(&flow.name)
        } else {
            Ok(())
        }
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
