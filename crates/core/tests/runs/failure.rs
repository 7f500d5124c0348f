//! The error of a failed run names the step on every level.

use countersign_core::runs::{AgentCall, MAX_TEXT_BYTES, Machine, MachineAction, Output};
use countersign_protocol::runs::strategy::{Flow, Step};

use crate::scene::*;

fn fails(agent: &str) -> impl Fn(&AgentCall) -> Result<Output, String> {
    move |call| {
        if call.agent == agent {
            Err("no luck".to_owned())
        } else {
            wraps(call)
        }
    }
}

fn failure(flow: Flow, agent: &str) -> String {
    lines(&trace(&strategy(flow), "x", 100, fails(agent)))
        .pop()
        .expect("an end")
}

#[test]
fn every_level_names_its_step() {
    let innermost = Step::Flow(broadcast("Three", "", agents(&["a", "b"])));
    let inner = Step::Flow(cycle("Two", None, None, vec![innermost]));
    let flow = sequence("One", vec![agent("a"), inner]);
    assert_eq!(failure(flow.clone(), "a"), "x Step \"a\" failed: no luck");
    let deep = "x Step \"Two\" failed: Step \"Three\" failed: Step \"b\" failed: no luck";
    assert_eq!(failure(flow, "b"), deep);
}

#[test]
fn an_observer_is_named_as_observer() {
    let inner = Step::Flow(cycle("Loop", None, Some("o"), agents(&["a"])));
    assert_eq!(
        failure(sequence("Main", vec![inner]), "o"),
        "x Step \"Loop\" failed: Observer \"o\" failed: no luck"
    );
    assert_eq!(
        failure(cycle("Main", None, Some("o"), agents(&["a"])), "o"),
        "x Observer \"o\" failed: no luck"
    );
}

#[test]
fn an_output_that_is_too_long_fails_its_step() {
    let flow = strategy(sequence("Main", agents(&["a", "b"])));
    let says = |bytes: usize| move |_: &AgentCall| output("x".repeat(bytes), 0, 0);
    assert!(matches!(
        end(&flow, "", says(MAX_TEXT_BYTES)),
        MachineAction::Finished { .. }
    ));
    let MachineAction::Failed { message } = end(&flow, "", says(MAX_TEXT_BYTES + 1)) else {
        panic!("it went on")
    };
    assert!(
        message.starts_with("Step \"a\" failed: the text is longer than"),
        "{message}"
    );
}

#[test]
fn a_position_that_does_not_match_the_strategy_fails_without_a_panic() {
    let deep = strategy(sequence(
        "Main",
        vec![agent("a"), Step::Flow(sequence("Inner", agents(&["b"])))],
    ));
    let shallow = strategy(sequence("Main", agents(&["a"])));
    let swapped = strategy(sequence(
        "Main",
        vec![Step::Flow(sequence("Inner", agents(&["b"]))), agent("a")],
    ));
    let mut machine = Machine::start("x");
    loop {
        for other in [&shallow, &swapped] {
            let mut astray = machine.clone();
            for _ in 0..20 {
                if let MachineAction::Call(call) = astray.next(other) {
                    astray.supply(other, wraps(&call).expect("an output"));
                }
            }
            assert!(matches!(
                astray.next(other),
                MachineAction::Finished { .. } | MachineAction::Failed { .. }
            ));
        }
        match machine.next(&deep) {
            MachineAction::Call(call) => machine.supply(&deep, wraps(&call).expect("an output")),
            MachineAction::Finished { .. } => break,
            MachineAction::StepStarted { .. } | MachineAction::StepCompleted { .. } => {}
            MachineAction::Failed { message } => panic!("{message}"),
        }
    }
}
