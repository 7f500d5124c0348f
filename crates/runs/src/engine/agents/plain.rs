//! The echo and template agents, which need only their input.

use countersign_core::runs::template;
use countersign_protocol::runs::Usage;

use super::context::AgentOutcome;

const ASSISTANT: &str = "assistant";

pub fn echo(message: &str) -> AgentOutcome {
    outcome(message.to_owned())
}

pub fn fill(template: &str, message: &str) -> Result<AgentOutcome, String> {
    template::fill(template, message)
        .map(outcome)
        .map_err(|error| error.to_string())
}

/// The outcome of an agent without a model.
pub fn outcome(text: String) -> AgentOutcome {
    AgentOutcome {
        responses: vec![(ASSISTANT.to_owned(), text.clone())],
        text,
        usage: Usage::default(),
        context_usage: None,
        model: None,
        finish_reason: "stop".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_echo_gives_back_what_it_was_given() {
        let done = echo("  tides\n");
        assert_eq!(done.text, "  tides\n");
        assert_eq!(done.finish_reason, "stop");
        assert_eq!(done.usage, Usage::default());
        assert_eq!(done.responses, [(ASSISTANT.to_owned(), "  tides\n".to_owned())]);
    }

    #[test]
    fn a_template_is_filled_and_stays_bounded() {
        assert_eq!(fill("<{{input}}|{{input}}>", "a").unwrap().text, "<a|a>");
        let long = "x".repeat(1024 * 1024);
        assert!(fill(&"{{input}}".repeat(64), &long).is_err());
    }
}
