//! User agents: when they ask a person.

use countersign_protocol::runs::strategy::UserAgent;

use super::AgentCall;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum UserTurn {
    /// No person is asked; this is the output of the agent.
    Passes(String),
    Asks {
        prompt: Option<String>,
    },
}

/// A segment started with an input has already answered its first user agent.
pub fn act(agent: &UserAgent, call: &AgentCall, segment_input: &str) -> UserTurn {
    let preset = agent.preset_message.clone();
    if !agent.require_input {
        return UserTurn::Passes(preset.unwrap_or_else(|| call.message.clone()));
    }
    if call.number == 0 && !segment_input.is_empty() {
        return UserTurn::Passes(segment_input.to_owned());
    }
    let says = |text: &String| !text.is_empty();
    UserTurn::Asks {
        prompt: preset.filter(says).or_else(|| Some(call.message.clone()).filter(says)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn user(require_input: bool, preset: Option<&str>) -> UserAgent {
        UserAgent {
            require_input,
            preset_message: preset.map(str::to_owned),
        }
    }

    fn call(number: u64, message: &str) -> AgentCall {
        AgentCall {
            agent: "user".to_owned(),
            message: message.to_owned(),
            number,
        }
    }

    fn passes(text: &str) -> UserTurn {
        UserTurn::Passes(text.to_owned())
    }

    fn asks(prompt: Option<&str>) -> UserTurn {
        UserTurn::Asks {
            prompt: prompt.map(str::to_owned),
        }
    }

    #[test]
    fn an_agent_without_required_input_never_asks() {
        for (number, input) in [(0, ""), (0, "start"), (3, "start")] {
            assert_eq!(
                act(&user(false, None), &call(number, "before"), input),
                passes("before")
            );
            assert_eq!(
                act(&user(false, Some("preset")), &call(number, "before"), input),
                passes("preset")
            );
        }
    }

    #[test]
    fn a_start_input_answers_the_first_call_even_with_a_preset() {
        assert_eq!(act(&user(true, None), &call(0, "start"), "start"), passes("start"));
        assert_eq!(
            act(&user(true, Some("preset")), &call(0, "start"), "start"),
            passes("start")
        );
    }

    #[test]
    fn a_start_without_input_asks() {
        assert_eq!(act(&user(true, None), &call(0, ""), ""), asks(None));
        assert_eq!(
            act(&user(true, Some("Enter topic")), &call(0, ""), ""),
            asks(Some("Enter topic"))
        );
    }

    #[test]
    fn later_calls_ask_with_the_previous_output() {
        assert_eq!(
            act(&user(true, None), &call(1, "before"), "start"),
            asks(Some("before"))
        );
        assert_eq!(act(&user(true, None), &call(1, ""), "start"), asks(None));
        assert_eq!(
            act(&user(true, Some("preset")), &call(1, "before"), "start"),
            asks(Some("preset"))
        );
        assert_eq!(
            act(&user(true, Some("")), &call(1, "before"), "start"),
            asks(Some("before"))
        );
    }
}
