//! Acts on an outcome at most once: reserve it in the journal, run the command, record the result.

use std::process::Stdio;

use anyhow::{Context, Result};
use countersign_agent::{Claim, Journal, Reservation, Resolved};
use countersign_client::screen;
use tokio::io::AsyncWriteExt;
use tokio::process::Command;

use super::outcome::{OutcomeReport, resolution};
use crate::args::ExecArgs;

/// The result of acting on an outcome.
#[derive(Debug, PartialEq)]
pub enum ActResult {
    /// The command ran and succeeded.
    Done,
    /// The command ran and failed; it is not retried automatically.
    Failed(String),
    /// This outcome was acted on before.
    Before { ok: bool },
    /// A process that no longer exists started to act; how far it got is unknown.
    Interrupted,
    /// Another process is acting on it now.
    UnderWay,
    /// Another outcome of the same message was acted on.
    Other,
}

impl ActResult {
    /// One word for programs.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Done => "done",
            Self::Failed(_) => "failed",
            Self::Before { .. } => "before",
            Self::Interrupted => "interrupted",
            Self::UnderWay => "under_way",
            Self::Other => "other",
        }
    }

    /// A sentence for people, with the next step.
    pub fn text(&self, message_id: &str) -> String {
        let again = format!("to run it again: countersign journal forget {message_id}");
        match self {
            Self::Done => "the command ran".to_owned(),
            Self::Failed(how) => format!("the command {how}; {again}"),
            Self::Before { ok: true } => "the command ran for it before, so not again".to_owned(),
            Self::Before { ok: false } => format!("the command ran for it before and failed, so not again; {again}"),
            Self::Interrupted => {
                format!("an earlier run of the command was cut off: find out how far it came; {again}")
            }
            Self::UnderWay => "another process is running the command for it: wait until it ends".to_owned(),
            Self::Other => "the command ran for another outcome of this message, so not for this one".to_owned(),
        }
    }
}

/// How the command is run.
#[derive(Debug, Clone, Copy, Default)]
pub struct ExecOptions {
    /// Runs in a process group of its own, so that the terminal's Ctrl-C does not reach it.
    pub own_group: bool,
    /// Redirects the command's output to standard error, because standard output is reserved for JSON.
    pub to_stderr: bool,
}

pub async fn act(journal: &Journal, resolved: &Resolved, exec: &ExecArgs, options: ExecOptions) -> Result<ActResult> {
    let (message_id, resolution_id) = resolved.act_key();
    let reservation = match journal.begin(message_id, resolution_id)? {
        Claim::Go(reservation) => reservation,
        Claim::AlreadyDone { ok } => return Ok(ActResult::Before { ok }),
        Claim::Interrupted => return Ok(ActResult::Interrupted),
        Claim::UnderWay => return Ok(ActResult::UnderWay),
        Claim::Other => return Ok(ActResult::Other),
    };
    let failure = match run(journal, &reservation, resolved, exec, options).await {
        Ok(failure) => failure,
        Err(error) => {
            // The command never started, so a retry cannot run it twice.
            drop(reservation);
            journal.forget(message_id)?;
            return Err(error);
        }
    };
    journal.finish(reservation, failure.is_none())?;
    Ok(failure.map_or(ActResult::Done, ActResult::Failed))
}

/// Returns `None` if the command succeeded, the failure if it did not; an error only if it could not be started.
async fn run(
    journal: &Journal,
    reservation: &Reservation,
    resolved: &Resolved,
    exec: &ExecArgs,
    options: ExecOptions,
) -> Result<Option<String>> {
    let input = OutcomeReport::of_outcome(resolved).with_state(resolved).text()?;
    let mut child = command(resolved, exec, options)?;
    // The child's pid is recorded: if this process is killed, the command keeps running and must not be started
    // again.
    if let Some(pid) = child.id()
        && let Err(error) = journal.set_worker(reservation, pid)
    {
        screen::print_notice(&format!(
            "the command is running, but recording its pid in the journal failed: {error}"
        ));
    }
    let mut stdin = child.stdin.take();
    // The input is written concurrently: a command that does not read its input must not block.
    let feed = async {
        if let Some(mut stdin) = stdin.take() {
            let _ = stdin.write_all(input.as_bytes()).await;
        }
    };
    let (ended, ()) = tokio::join!(child.wait(), feed);
    Ok(match ended {
        Ok(status) if status.success() => None,
        Ok(status) => Some(format!("failed ({status})")),
        Err(error) => Some(format!("was started, but its exit status is unknown ({error})")),
    })
}

fn command(resolved: &Resolved, exec: &ExecArgs, options: ExecOptions) -> Result<tokio::process::Child> {
    let (program, args) = exec.words.split_first().context("--exec names no command")?;
    let mut command = Command::new(program);
    command
        .args(args)
        .stdin(Stdio::piped())
        .env("COUNTERSIGN_MESSAGE_ID", &resolved.message_id)
        .env("COUNTERSIGN_RESOLUTION", resolution(&resolved.outcome))
        .env("COUNTERSIGN_RESOLUTION_ID", &resolved.resolution_id);
    if options.own_group {
        command.process_group(0);
    }
    if options.to_stderr {
        command.stdout(std::io::stderr());
    }
    command
        .spawn()
        .with_context(|| format!("the command {} cannot be started", program.display()))
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use countersign_agent::Outcome;

    use super::*;
    use crate::commands::agent_commands::outcome::sample;

    struct Scratch(PathBuf);

    impl Scratch {
        fn new(name: &str) -> Self {
            Self(std::env::temp_dir().join(format!("countersign-act-{}-{name}", std::process::id())))
        }

        fn journal(&self) -> Journal {
            Journal::open(&self.0.join("journal.db")).unwrap()
        }
    }

    impl Drop for Scratch {
        fn drop(&mut self) {
            let _ = std::fs::remove_dir_all(&self.0);
        }
    }

    fn resolved() -> Resolved {
        sample::resolved(Outcome::Declined)
    }

    fn sh(script: &str) -> ExecArgs {
        ExecArgs {
            words: ["sh", "-c", script].map(Into::into).to_vec(),
        }
    }

    #[tokio::test]
    async fn a_command_gets_the_outcome_and_runs_once() {
        let scratch = Scratch::new("once");
        let journal = scratch.journal();
        let note = scratch.0.join("note");
        let script = format!(
            "cat > {0}; echo $COUNTERSIGN_MESSAGE_ID $COUNTERSIGN_RESOLUTION >> {0}",
            note.display()
        );
        assert_eq!(
            act(&journal, &resolved(), &sh(&script), ExecOptions::default())
                .await
                .unwrap(),
            ActResult::Done
        );
        let text = std::fs::read_to_string(&note).unwrap();
        assert!(
            text.contains(r#""status":"declined""#) && text.ends_with("msg_1 declined\n"),
            "{text}"
        );
        let again = act(&scratch.journal(), &resolved(), &sh("exit 1"), ExecOptions::default())
            .await
            .unwrap();
        assert_eq!(again, ActResult::Before { ok: true });
        let other = Resolved {
            resolution_id: "res_2".to_owned(),
            ..resolved()
        };
        assert_eq!(
            act(&journal, &other, &sh("exit 1"), ExecOptions::default())
                .await
                .unwrap(),
            ActResult::Other
        );
    }

    #[tokio::test]
    async fn a_command_that_failed_is_not_run_again_and_one_that_never_started_is() {
        let scratch = Scratch::new("failed");
        let journal = scratch.journal();
        let missing = ExecArgs {
            words: vec!["/nonexistent/command".into()],
        };
        assert!(
            act(&journal, &resolved(), &missing, ExecOptions::default())
                .await
                .is_err()
        );
        let failed = act(&journal, &resolved(), &sh("exit 3"), ExecOptions::default())
            .await
            .unwrap();
        assert!(
            matches!(&failed, ActResult::Failed(how) if how.contains('3')),
            "{failed:?}"
        );
        assert_eq!(
            act(&journal, &resolved(), &sh("true"), ExecOptions::default())
                .await
                .unwrap(),
            ActResult::Before { ok: false }
        );
    }

    #[tokio::test]
    async fn an_interrupted_command_is_reported_and_not_run_again() {
        let scratch = Scratch::new("cut");
        let journal = scratch.journal();
        let reservation = journal.begin("msg_1", "res_1").unwrap();
        assert_eq!(
            act(&journal, &resolved(), &sh("true"), ExecOptions::default())
                .await
                .unwrap(),
            ActResult::UnderWay
        );
        drop(reservation);
        assert_eq!(
            act(&journal, &resolved(), &sh("true"), ExecOptions::default())
                .await
                .unwrap(),
            ActResult::Interrupted
        );
        journal.forget("msg_1").unwrap();
        assert_eq!(
            act(&journal, &resolved(), &sh("true"), ExecOptions::default())
                .await
                .unwrap(),
            ActResult::Done
        );
    }
}
