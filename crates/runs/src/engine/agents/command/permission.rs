//! Permission for a command: from the operator's setting, the policy of the run, or a person.

use std::ffi::OsString;
use std::time::Duration;

use countersign_core::runs::{AskKind, Judgement};
use countersign_protocol::runs::Decision;
use countersign_protocol::runs::strategy::CommandAgent;
use serde_json::{Value, json};

use super::{environment, process};
use crate::engine::agents::context::{AgentContext, AgentJob, AgentResult};
use crate::engine::agents::text_outcome;
use crate::settings::{Commands, LlmSettings, RunsSettings};

const OPERATION: &str = "command.execute";
/// Bytes of the input shown to the deciding person, from its start and from its end.
const SHOWN_INPUT_BYTES: usize = 4096;

/// Command settings of this hub.
pub struct Commander {
    pub rule: Commands,
    pub timeout: Duration,
    pub output_bytes: usize,
    /// The environment of a command.
    pub environment: Vec<(OsString, OsString)>,
}

impl Commander {
    pub fn new(runs: &RunsSettings, llm: &LlmSettings) -> Self {
        Self {
            rule: runs.commands,
            timeout: runs.command_timeout,
            output_bytes: runs.command_output_bytes,
            environment: environment::inherited(std::env::vars_os(), llm.key_variables()),
        }
    }
}

pub async fn run<D: AgentContext>(
    commander: &Commander,
    agent: &CommandAgent,
    job: &AgentJob<'_>,
    context: &mut D,
) -> AgentResult {
    let resource = resource(agent);
    permit(commander, agent, &resource, job, context).await?;
    process::run(commander, agent, job.cwd, job.message)
        .await
        .map(text_outcome)
}

async fn permit<D: AgentContext>(
    commander: &Commander,
    agent: &CommandAgent,
    resource: &str,
    job: &AgentJob<'_>,
    context: &mut D,
) -> Result<(), String> {
    if commander.rule == Commands::Off {
        return Err(format!(
            "commands are off on this hub, so {resource} was not run; the operator turns them on with \
             runs.commands = \"ask\" or \"allow\" in the hub's configuration"
        ));
    }
    match (context.judge(resource), commander.rule) {
        (Judgement::Deny, _) => Err(format!("the policy of this run denies the command {resource}")),
        (Judgement::Allow, _) | (Judgement::Unsaid, Commands::Allow) => Ok(()),
        (Judgement::Ask, _) | (Judgement::Unsaid, Commands::Ask | Commands::Off) => {
            ask(agent, resource, job, context).await
        }
    }
}

async fn ask<D: AgentContext>(
    agent: &CommandAgent,
    resource: &str,
    job: &AgentJob<'_>,
    context: &mut D,
) -> Result<(), String> {
    let state = json!({ "command": resource });
    let answers = match &job.resumed {
        Some(resumed) if resumed.state == state => resumed.answers.clone(),
        Some(_) | None => {
            let details = Some(details(agent, job));
            let ask = AskKind::Permission {
                operation: OPERATION.to_owned(),
                resource: resource.to_owned(),
                details,
            };
            context.ask(vec![ask], state).await?
        }
    };
    let word = answers.first().map(String::as_str).unwrap_or_default();
    let Some(decision) = Decision::parse(word) else {
        return Err(format!("{word:?} is not a valid decision for the command {resource}"));
    };
    if decision.is_for_the_session() {
        context.remember(resource, decision.allows()).await;
    }
    if decision.allows() {
        Ok(())
    } else {
        Err(format!("permission was denied for the command {resource}"))
    }
}

/// Includes the input: a program like a shell takes its orders from there.
fn details(agent: &CommandAgent, job: &AgentJob<'_>) -> Value {
    let (head, tail) = ends(job.message);
    let mut details = json!({
        "program": agent.program,
        "args": agent.args,
        "cwd": job.cwd.to_string_lossy(),
        "input": head,
        "inputBytes": job.message.len(),
    });
    if let Some(tail) = tail {
        details["inputTail"] = json!(tail);
        details["inputBytesNotShown"] = json!(job.message.len() - head.len() - tail.len());
    }
    details
}

/// The whole input, or its start and end: a malicious tail could hide behind a long harmless start.
fn ends(input: &str) -> (&str, Option<&str>) {
    if input.len() <= 2 * SHOWN_INPUT_BYTES {
        return (input, None);
    }
    let head = &input[..input.floor_char_boundary(SHOWN_INPUT_BYTES)];
    (
        head,
        Some(&input[input.ceil_char_boundary(input.len() - SHOWN_INPUT_BYTES)..]),
    )
}

/// The command in one line, quoted so that two different commands never look the same.
fn resource(agent: &CommandAgent) -> String {
    let words = std::iter::once(&agent.program).chain(&agent.args);
    words.map(|word| quoted(word)).collect::<Vec<_>>().join(" ")
}

fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "-_./:=,+@%^".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn command_line(program: &str, args: &[&str]) -> String {
        resource(&CommandAgent {
            program: program.to_owned(),
            args: args.iter().map(|&arg| arg.to_owned()).collect(),
        })
    }

    #[test]
    fn two_commands_never_look_the_same() {
        assert_eq!(
            command_line("git", &["log", "--oneline", "-n=3"]),
            "git log --oneline -n=3"
        );
        assert_eq!(command_line("rm", &["a b"]), "rm 'a b'");
        assert_eq!(command_line("rm", &["a", "b"]), "rm a b");
        assert_eq!(command_line("echo", &[""]), "echo ''");
        assert_eq!(command_line("echo", &["it's"]), r"echo 'it'\''s'");
        assert_eq!(command_line("sh", &["-c", "a; b"]), "sh -c 'a; b'");
    }
}
