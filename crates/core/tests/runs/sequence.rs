//! Sequential flows: each step gets the output of the one before.

use countersign_core::runs::MachineAction;
use countersign_protocol::runs::strategy::Step;

use crate::scene::*;

#[test]
fn each_step_gets_the_output_of_the_one_before() {
    let steps = run(sequence("Main", agents(&["a", "b"])), "x");
    assert_eq!(
        steps,
        [
            "> a x",
            "! a x",
            "< a a(x)",
            "> b a(x)",
            "! b a(x)",
            "< b b(a(x))",
            "= b(a(x))"
        ]
    );
}

#[test]
fn an_empty_input_is_a_message_too() {
    let steps = run(sequence("Main", agents(&["a"])), "");
    assert_eq!(steps, ["> a ", "! a ", "< a a()", "= a()"]);
}

#[test]
fn a_nested_flow_is_one_step_under_its_own_name() {
    let inner = Step::Flow(sequence("Inner", agents(&["b", "c"])));
    let steps = run(sequence("Main", vec![agent("a"), inner, agent("d")]), "x");
    let expected = [
        "> a x",
        "! a x",
        "< a a(x)",
        "> Inner a(x)",
        "! b a(x)",
        "! c b(a(x))",
        "< Inner c(b(a(x)))",
        "> d c(b(a(x)))",
        "! d c(b(a(x)))",
        "< d d(c(b(a(x))))",
        "= d(c(b(a(x))))",
    ];
    assert_eq!(steps, expected);
}

#[test]
fn calls_are_counted_from_zero_over_all_levels() {
    let inner = Step::Flow(sequence("Inner", agents(&["b"])));
    let flow = strategy(cycle("Main", Some(2), Some("o"), vec![agent("a"), inner]));
    let numbers: Vec<u64> = trace(&flow, "x", 100, wraps)
        .iter()
        .filter_map(|action| match action {
            MachineAction::Call(call) => Some(call.number),
            _ => None,
        })
        .collect();
    assert_eq!(numbers, [0, 1, 2, 3, 4, 5]);
}

#[test]
fn the_usage_of_a_flow_is_the_sum_of_its_steps() {
    let inner = Step::Flow(sequence("Inner", agents(&["b", "c"])));
    let flow = strategy(sequence("Main", vec![agent("a"), inner]));
    assert_eq!(usages(&trace(&flow, "x", 100, wraps)), [(1, 2), (2, 4), (3, 6)]);
}
