//! The end of a run: the result for standard output, the rest for standard error, and an exit code.

use std::io::{IsTerminal, stdout};

use countersign_client::screen::{self, escape, escape_lines};
use countersign_protocol::runs::{Event, RunError, Usage};

use super::super::Finished;
use super::printer::usage_text;
use crate::commands::agent_commands::outcome::code;

#[derive(Debug, Clone, PartialEq)]
pub enum FollowedEnding {
    Completed { result: String, usage: Usage },
    Failed(RunError),
}

impl FollowedEnding {
    /// Returns `None` for an event that does not end the run.
    pub fn of(event: &Event) -> Option<Self> {
        match event {
            Event::StrategyCompleted { result, usage } => Some(Self::Completed {
                result: result.clone(),
                usage: *usage,
            }),
            Event::StrategyError { error } => Some(Self::Failed(error.clone())),
            Event::StrategyStarted { .. }
            | Event::StepStarted { .. }
            | Event::StepCompleted { .. }
            | Event::AgentOutput { .. }
            | Event::AgentStreaming { .. }
            | Event::RequestInput { .. }
            | Event::RequestPermission { .. }
            | Event::RequestQuestion { .. }
            | Event::PolicyUpdated { .. }
            | Event::SteerQueued { .. } => None,
        }
    }

    /// Machines have already received the event itself.
    pub fn finish(self, run_id: &str, json: bool) -> Finished {
        let code = self.code();
        match self {
            Self::Completed { .. } if json => Finished::silent(),
            Self::Completed { result, usage } => {
                screen::write_stderr(&format!("Run {} completed{}\n", escape(run_id), usage_text(usage)));
                Finished::ok(result_text(&result, stdout().is_terminal()))
            }
            Self::Failed(error) => {
                explain(&error, run_id);
                Finished::with_code(String::new(), code)
            }
        }
    }

    fn code(&self) -> u8 {
        match self {
            Self::Completed { .. } => code::YES,
            Self::Failed(error) => match error.code.as_str() {
                "CANCELLED" => code::CANCELLED,
                "DAEMON_RESTARTED" => code::LOST,
                _ => code::FAILED,
            },
        }
    }
}

fn explain(error: &RunError, run_id: &str) {
    match error.code.as_str() {
        "CANCELLED" => screen::print_notice(&format!("Run {run_id} was stopped.")),
        "DAEMON_RESTARTED" => {
            screen::print_error(&error.message);
            screen::print_notice(&format!(
                "`countersign runs continue {run_id} --input TEXT` continues it."
            ));
        }
        _ => screen::print_error(&error.message),
    }
}

/// Escapes the result for a terminal; files and other programs get it verbatim.
fn result_text(result: &str, is_terminal: bool) -> String {
    let mut text = if is_terminal {
        escape_lines(result)
    } else {
        result.to_owned()
    };
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
    text
}

/// The run continues without a follower.
pub fn left(run_id: &str) -> Finished {
    screen::print_notice(&format!(
        "Run {run_id} continues. `countersign runs follow {run_id}` follows it again, `countersign runs stop {run_id}` ends it."
    ));
    Finished::with_code(String::new(), code::OPEN)
}

pub fn lost(why: &str) -> Finished {
    screen::print_error(why);
    Finished::with_code(String::new(), code::LOST)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn failed(code: &str) -> u8 {
        FollowedEnding::Failed(RunError {
            code: code.to_owned(),
            message: String::new(),
        })
        .code()
    }

    #[test]
    fn every_ending_has_its_own_exit_code() {
        let completed = FollowedEnding::Completed {
            result: String::new(),
            usage: Usage::default(),
        };
        assert_eq!(completed.code(), 0);
        assert_eq!(failed("EXECUTION_ERROR"), 1);
        assert_eq!(failed("CANCELLED"), 13);
        assert_eq!(failed("DAEMON_RESTARTED"), 15);
        assert_eq!(failed("OF_A_LATER_HUB"), 1);
    }

    #[test]
    fn a_result_is_changed_for_terminals_alone() {
        assert_eq!(result_text("a\tb\u{1b}[2J", false), "a\tb\u{1b}[2J\n");
        assert_eq!(result_text("a\u{1b}[2J\nb\n", true), "a\\u{1b}[2J\nb\n");
        assert_eq!(result_text("", false), "");
    }
}
