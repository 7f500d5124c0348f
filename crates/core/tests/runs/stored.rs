//! A stored run resumes exactly where it was.

use countersign_core::runs::{Machine, MachineAction};
use countersign_protocol::runs::strategy::{Flow, Step};

use crate::scene::*;

#[test]
fn a_call_is_returned_until_its_output_is_supplied() {
    let flow = strategy(sequence("Main", agents(&["a", "b"])));
    let mut machine = Machine::start("x");
    assert!(matches!(machine.next(&flow), MachineAction::StepStarted { .. }));
    let MachineAction::Call(call) = machine.next(&flow) else {
        panic!("no call")
    };
    assert_eq!(taken_up(&machine).next(&flow), MachineAction::Call(call.clone()));
    assert_eq!(machine.next(&flow), MachineAction::Call(call));
    assert_eq!(machine.calls(), 0);
    machine.supply(&flow, output("y", 0, 0));
    assert_eq!(machine.calls(), 1);
    assert_eq!(
        taken_up(&machine).next(&flow),
        MachineAction::StepCompleted {
            name: "a".to_owned(),
            output: output("y", 0, 0)
        }
    );
}

#[test]
fn an_unexpected_output_changes_nothing() {
    let flow = strategy(sequence("Main", agents(&["a"])));
    let mut machine = Machine::start("x");
    machine.supply(&flow, output("too early", 0, 0));
    assert_eq!(machine, Machine::start("x"));
    while !matches!(machine.next(&flow), MachineAction::Call(_)) {}
    machine.supply(&flow, output("y", 0, 0));
    machine.supply(&flow, output("too late", 0, 0));
    while !matches!(machine.next(&flow), MachineAction::Finished { .. }) {}
    assert_eq!(
        machine.next(&flow),
        MachineAction::Finished {
            output: output("y", 0, 0)
        },
        "and the end comes again"
    );
}

fn nested(depth: usize, wrap: fn(String, Vec<Step>) -> Flow) -> Flow {
    (1..depth).fold(wrap("F0".to_owned(), agents(&["a"])), |flow, level| {
        wrap(format!("F{level}"), vec![Step::Flow(flow)])
    })
}

#[test]
fn thirty_two_nested_levels_work() {
    let kinds: [fn(String, Vec<Step>) -> Flow; 3] = [
        |name, steps| sequence(&name, steps),
        |name, steps| broadcast(&name, "|", steps),
        |name, steps| cycle(&name, Some(1), None, steps),
    ];
    for wrap in kinds {
        let log = run(nested(32, wrap), "x");
        assert_eq!(log, ["> F30 x", "! a x", "< F30 a(x)", "= a(x)"]);
    }
    let often = strategy(nested(10, |name, steps| cycle(&name, Some(2), None, steps)));
    let log = trace(&often, "x", 2_000, |_| Ok(output("y", 1, 0)));
    assert_eq!(
        log.last(),
        Some(&MachineAction::Finished {
            output: output("y", 1024, 0)
        })
    );
}

#[test]
fn a_message_passed_to_a_nested_flow_is_stored_once() {
    let text = "x".repeat(1000);
    let flow = strategy(nested(32, |name, steps| sequence(&name, steps)));
    let mut machine = Machine::start(&text);
    while !matches!(machine.next(&flow), MachineAction::Call(_)) {}
    let stored = serde_json::to_string(&machine).expect("a place can be written");
    assert_eq!(stored.matches(&text).count(), 1);
    assert!(stored.len() < 6_000, "{}", stored.len());
}
