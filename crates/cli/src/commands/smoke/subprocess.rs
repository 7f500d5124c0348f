//! Runs the page's commands: each in a process of its own, with the environment that the page asks for.

use std::path::PathBuf;
use std::process::Stdio;

use anyhow::{Context, Result};
use countersign_agent::Identity;
use countersign_client::screen::escape;
use tokio::io::AsyncWriteExt;
use tokio::process::Command;
use tokio::time::timeout;

use super::STEP_TIMEOUT;
use super::hub_access::{HubAccess, SmokeAgent};
use super::plan::variable;
use super::scratch::ScratchDir;
use crate::commands::skill::SkillSettings;

pub struct PageProcess {
    program: PathBuf,
    directory: PathBuf,
    variables: Vec<(String, String)>,
}

pub struct Ran {
    pub code: Option<i32>,
    pub stdout: String,
    stderr: String,
}

impl PageProcess {
    /// The environment holds the exports of the page, the keys of a test agent, and a journal of the test's own. The
    /// empty data directory keeps stored keys out: a page works with the variables it names.
    pub fn new(
        settings: &SkillSettings,
        hub: &HubAccess,
        agent: &SmokeAgent,
        scratch: &ScratchDir,
    ) -> Result<(Self, String)> {
        let mut variables = agent.variables.clone();
        let mut text = format!("the state is sealed with the key in {}", settings.seal_key_env);
        if variable(&settings.seal_key_env).is_none() {
            variables.push((settings.seal_key_env.clone(), temporary_key()));
            text = format!(
                "the state is sealed with a temporary key: {} is not set",
                settings.seal_key_env
            );
        }
        for (name, value) in [
            ("COUNTERSIGN_URL", hub.location.url.to_string()),
            ("COUNTERSIGN_AGENT", agent.id.clone()),
            ("COUNTERSIGN_TOKEN", agent.token.clone()),
            ("COUNTERSIGN_JOURNAL", scratch.path("journal.db").display().to_string()),
            ("COUNTERSIGN_DATA", scratch.path("data").display().to_string()),
        ] {
            variables.push((name.to_owned(), value));
        }
        let process = Self {
            program: std::env::current_exe().context("the path of this program is unknown")?,
            directory: scratch.path(""),
            variables,
        };
        Ok((process, text))
    }

    pub fn command(&self, args: &[String]) -> Command {
        let mut command = Command::new(&self.program);
        command
            .args(args)
            .envs(self.variables.iter().cloned())
            .current_dir(&self.directory)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true);
        command
    }

    pub async fn run(&self, args: &[String], input: &[u8]) -> Result<Ran> {
        let mut child = self.command(args).spawn().context("a new process cannot be started")?;
        // Dropped at the end of the block, which closes the child's input. A child that does not read it has its own
        // error to report.
        if let Some(mut stdin) = child.stdin.take() {
            let _ = stdin.write_all(input).await;
        }
        let name = args.first().map(String::as_str).unwrap_or_default();
        let output = timeout(STEP_TIMEOUT, child.wait_with_output()).await;
        let output =
            output.with_context(|| format!("`countersign {name}` did not end in {} s", STEP_TIMEOUT.as_secs()))??;
        Ok(Ran {
            code: output.status.code(),
            stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        })
    }
}

impl Ran {
    /// What the command said about its failure, on one line.
    pub fn complaint(&self) -> String {
        let stderr = self.stderr.trim().lines().last().unwrap_or_default();
        escape(stderr.trim_start_matches("error: "))
    }
}

/// 64 hex digits from two random ids: good enough for values that live for seconds.
pub fn temporary_key() -> String {
    let id = || Identity::new("smoke").run_id.replace('-', "");
    id() + &id()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_temporary_key_is_different_each_time() {
        assert_eq!(temporary_key().len(), 64);
        assert_ne!(temporary_key(), temporary_key());
    }
}
