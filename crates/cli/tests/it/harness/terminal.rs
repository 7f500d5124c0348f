//! A shell session for CLI commands: a home directory and an environment, on the hub's machine or a remote one.

use std::path::PathBuf;

use super::{Agent, CommandOutput, Hub, Process, countersign};

#[derive(Clone)]
pub struct Terminal {
    home: PathBuf,
    envs: Vec<(String, String)>,
}

impl Terminal {
    /// A terminal on the hub's machine, where commands find the hub by its data directory.
    pub fn local(hub: &Hub) -> Self {
        Self {
            home: hub.scratch().home(),
            envs: vec![],
        }
        .env("COUNTERSIGN_DATA", &hub.data().display().to_string())
    }

    /// A terminal on another machine, with the agent's credentials in the environment.
    pub fn remote(hub: &Hub, url: &str, agent: &Agent) -> Self {
        Self {
            home: hub.scratch().home(),
            envs: vec![],
        }
        .env("COUNTERSIGN_URL", url)
        .env("COUNTERSIGN_TOKEN", &agent.token)
        .env("COUNTERSIGN_AGENT", &agent.id)
        .env("COUNTERSIGN_TO", "human:owner")
        .env(
            "COUNTERSIGN_JOURNAL",
            &hub.scratch().path("journal.db").display().to_string(),
        )
    }

    /// A later value for the same name wins.
    pub fn env(mut self, name: &str, value: &str) -> Self {
        self.envs.push((name.to_owned(), value.to_owned()));
        self
    }

    pub fn without(mut self, name: &str) -> Self {
        self.envs.retain(|(known, _)| known != name);
        self
    }

    pub fn start(&self, args: &[&str]) -> Process {
        let mut command = countersign(&self.home);
        command.args(args).envs(self.envs.iter().cloned());
        Process::spawn(command, "")
    }

    pub fn run(&self, args: &[&str]) -> CommandOutput {
        self.run_with_input(args, "")
    }

    pub fn run_with_input(&self, args: &[&str], input: &str) -> CommandOutput {
        let mut command = countersign(&self.home);
        command.args(args).envs(self.envs.iter().cloned());
        Process::spawn(command, input).finish()
    }

    /// Runs a program that itself calls `countersign` from the PATH.
    pub fn start_program(&self, program: &str, args: &[&str]) -> Process {
        let ours = countersign(&self.home);
        let bin_dir = std::path::Path::new(ours.get_program())
            .parent()
            .expect("a directory")
            .to_owned();
        let path = format!("{}:{}", bin_dir.display(), std::env::var("PATH").unwrap_or_default());
        let mut command = std::process::Command::new(program);
        command
            .env_clear()
            .args(args)
            .env("HOME", &self.home)
            .env("PATH", path)
            .envs(self.envs.iter().cloned());
        Process::spawn(command, "")
    }
}
