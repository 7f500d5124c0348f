use super::model::{Flow, Step, Strategy};
use crate::runs::fault::{FaultList, FaultPath};

/// Checks that every agent named by a flow is defined.
pub(super) fn check(strategy: &Strategy, faults: &FaultList) {
    let place = FaultPath::Key(&FaultPath::Root, "flow");
    check_flow(&strategy.flow, place, strategy, faults);
}

fn check_flow(flow: &Flow, place: FaultPath<'_>, strategy: &Strategy, faults: &FaultList) {
    let check_agent = |place: FaultPath<'_>, agent: &str| {
        if strategy.agent(agent).is_none() {
            faults.add(place, "references an agent which is not defined in agents");
        }
    };
    if let Some(observer) = flow.observer() {
        check_agent(FaultPath::Key(&place, "observer"), observer);
    }
    let steps = FaultPath::Key(&place, "steps");
    for (index, step) in flow.steps.iter().enumerate() {
        let place = FaultPath::Item(&steps, index);
        match step {
            Step::Agent(agent) => check_agent(FaultPath::Key(&place, "agent"), agent),
            Step::Flow(inner) => check_flow(inner, place, strategy, faults),
        }
    }
}
