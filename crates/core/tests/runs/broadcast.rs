//! Broadcast flows: the same message for every step, and the outputs joined in order.

use countersign_core::runs::{MAX_TEXT_BYTES, MachineAction};
use countersign_protocol::runs::strategy::Step;

use crate::scene::*;

#[test]
fn every_step_gets_the_same_message_and_outputs_are_joined() {
    let steps = run(broadcast("Main", "\n--\n", agents(&["a", "b"])), "x");
    let expected = [
        "> a x",
        "! a x",
        "< a a(x)",
        "> b x",
        "! b x",
        "< b b(x)",
        "= a(x)\n--\nb(x)",
    ];
    assert_eq!(steps, expected);
}

#[test]
fn flows_get_the_same_message_as_agents() {
    let inner = Step::Flow(sequence("Inner", agents(&["b", "c"])));
    let steps = run(broadcast("Main", "|", vec![inner.clone(), agent("a"), inner]), "x");
    let expected = [
        "> Inner x",
        "! b x",
        "! c b(x)",
        "< Inner c(b(x))",
        "> a x",
        "! a x",
        "< a a(x)",
        "> Inner x",
        "! b x",
        "! c b(x)",
        "< Inner c(b(x))",
        "= c(b(x))|a(x)|c(b(x))",
    ];
    assert_eq!(steps, expected);
}

#[test]
fn an_empty_answer_keeps_its_place() {
    let flow = strategy(broadcast("Main", "|", agents(&["a", "b", "c"])));
    let steps = trace(&flow, "x", 100, |call| {
        Ok(output(if call.agent == "c" { "y" } else { "" }, 0, 0))
    });
    assert_eq!(lines(&steps).last().map(String::as_str), Some("= ||y"));
}

#[test]
fn a_single_output_is_not_joined() {
    assert_eq!(
        run(broadcast("Main", "|", agents(&["a"])), "x")
            .last()
            .map(String::as_str),
        Some("= a(x)")
    );
}

#[test]
fn joined_outputs_are_reset_in_the_next_round() {
    let inner = Step::Flow(broadcast("Both", "|", agents(&["a", "b"])));
    let steps = run(cycle("Main", Some(2), None, vec![inner]), "x");
    assert_eq!(steps.last().map(String::as_str), Some("= a(a(x)|b(x))|b(a(x)|b(x))"));
}

#[test]
fn a_text_that_keeps_doubling_ends_the_run_and_not_the_hub() {
    let inner = Step::Flow(broadcast("Both", "", agents(&["a", "b"])));
    let flow = strategy(cycle("Main", None, None, vec![inner]));
    let end = end(&flow, &"x".repeat(1000), |call| output(call.message.clone(), 0, 0));
    let MachineAction::Failed { message } = end else {
        panic!("it went on")
    };
    let why = format!("the text is longer than {MAX_TEXT_BYTES} bytes; pass a shorter text to the next agent");
    assert_eq!(message, format!("Step \"Both\" failed: Step \"b\" failed: {why}"));
}
