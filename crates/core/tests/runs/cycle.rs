//! Cycle flows: rounds until the count is reached or an observer sends a break signal.

use countersign_core::runs::{AgentCall, MachineAction, Output};
use countersign_protocol::runs::strategy::Step;

use crate::scene::*;

/// The observer `o` gives these answers in turn; every other agent wraps its message.
fn observed<'a>(answers: &'a [&'a str]) -> impl FnMut(&AgentCall) -> Result<Output, String> + 'a {
    let mut answers = answers.iter();
    move |call| match call.agent.as_str() {
        "o" => Ok(output(*answers.next().expect("an answer for each round"), 100, 100)),
        _ => wraps(call),
    }
}

#[test]
fn the_output_feeds_the_next_round_and_every_round_is_reported() {
    let steps = run(cycle("Main", Some(2), None, agents(&["a", "b"])), "x");
    let expected = [
        "> a x",
        "! a x",
        "< a a(x)",
        "> b a(x)",
        "! b a(x)",
        "< b b(a(x))",
        "> a b(a(x))",
        "! a b(a(x))",
        "< a a(b(a(x)))",
        "> b a(b(a(x)))",
        "! b a(b(a(x)))",
        "< b b(a(b(a(x))))",
        "= b(a(b(a(x))))",
    ];
    assert_eq!(steps, expected);
}

#[test]
fn a_signal_ends_the_cycle_with_the_output_of_the_steps() {
    let flow = strategy(cycle("Main", None, Some("o"), agents(&["a"])));
    let steps = trace(&flow, "x", 100, observed(&["better", "Done, I like it", "done\nwell"]));
    let expected = [
        "> a x",
        "! a x",
        "< a a(x)",
        "! o a(x)",
        "> a better",
        "! a better",
        "< a a(better)",
        "! o a(better)",
        "> a Done, I like it",
        "! a Done, I like it",
        "< a a(Done, I like it)",
        "! o a(Done, I like it)",
        "= a(Done, I like it)",
    ];
    assert_eq!(lines(&steps), expected);
}

#[test]
fn without_a_signal_the_last_output_is_the_observers() {
    let flow = strategy(cycle("Main", Some(2), Some("o"), agents(&["a"])));
    let steps = trace(&flow, "x", 100, observed(&["once more", "enough"]));
    assert_eq!(
        steps.last(),
        Some(&MachineAction::Finished {
            output: output("enough", 2, 4)
        })
    );
}

#[test]
fn an_observer_is_not_a_step_and_its_usage_is_not_counted() {
    let flow = strategy(cycle("Main", None, Some("o"), agents(&["a", "b"])));
    let steps = trace(&flow, "x", 100, observed(&["again", "done"]));
    assert_eq!(usages(&steps), [(1, 2), (1, 2), (1, 2), (1, 2), (4, 8)]);
    assert!(
        !lines(&steps)
            .iter()
            .any(|line| line.starts_with("> o") || line.starts_with("< o"))
    );
}

#[test]
fn an_unlimited_cycle_goes_on_and_does_not_grow() {
    let mut last = String::new();
    let flow = strategy(cycle(
        "Main",
        None,
        None,
        vec![Step::Flow(cycle("Inner", None, None, agents(&["a"])))],
    ));
    let steps = trace(&flow, "x", 5_000, |call| {
        last.clone_from(&call.message);
        Ok(output("y", 1, 0))
    });
    assert_eq!(last, "y");
    assert_eq!(steps.len(), 5_002, "one step that never ends, and its calls");
}

#[test]
fn a_nested_cycle_counts_from_the_start_each_time() {
    let inner = Step::Flow(cycle("Inner", Some(2), None, agents(&["a"])));
    let steps = run(cycle("Main", Some(2), None, vec![inner]), "x");
    assert_eq!(steps.iter().filter(|line| line.starts_with('!')).count(), 4);
    assert_eq!(steps.last().map(String::as_str), Some("= a(a(a(a(x))))"));
}
