use super::error::StrategyError;
use super::model::{Flow, FlowKind, Step, Strategy};
use crate::runs::fault::MAX_FAULTS;

/// Checks that every agent named by a flow is defined.
pub(super) fn check(strategy: &Strategy) -> Result<(), StrategyError> {
    let mut missing = Vec::new();
    find_missing(&strategy.flow, strategy, &mut missing);
    if missing.is_empty() {
        return Ok(());
    }
    let available = strategy.agent_names().join(", ");
    let sentence = |(flow, agent): &(&str, &str)| {
        format!("Flow {flow:?} references agent {agent:?} which is not defined. Available agents: [{available}].")
    };
    Err(StrategyError::Reference(
        missing.iter().map(sentence).collect::<Vec<_>>().join("\n"),
    ))
}

fn find_missing<'a>(flow: &'a Flow, strategy: &Strategy, missing: &mut Vec<(&'a str, &'a str)>) {
    let mut note = |agent: &'a str| {
        let found = (flow.name.as_str(), agent);
        if strategy.agent(agent).is_none() && missing.len() < MAX_FAULTS && !missing.contains(&found) {
            missing.push(found);
        }
    };
    match &flow.kind {
        FlowKind::Cycle {
            observer: Some(observer),
            ..
        } => note(observer),
        FlowKind::Cycle { observer: None, .. } | FlowKind::Sequential | FlowKind::Broadcast { .. } => {}
    }
    for step in &flow.steps {
        match step {
            Step::Agent(agent) => note(agent),
            Step::Flow(_) => {}
        }
    }
    for step in &flow.steps {
        match step {
            Step::Agent(_) => {}
            Step::Flow(inner) => find_missing(inner, strategy, missing),
        }
    }
}
