//! No process of a command outlives its step. A named pipe detects it: the pipe closes when its last holder has exited.

use std::path::PathBuf;
use std::pin::pin;
use std::process::Command;
use std::time::Duration;

use countersign_protocol::runs::strategy::AgentDef;
use countersign_runs::settings::{Commands, RunsSettings};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, BufReader};
use tokio::net::unix::pipe;

use crate::context::TestContext;
use crate::stage::{Scratch, Task, command_tools, commands, program, within};

struct Lifeline {
    _scratch: Scratch,
    path: PathBuf,
    pipe: BufReader<pipe::Receiver>,
}

impl Lifeline {
    fn new() -> Self {
        let scratch = Scratch::new();
        let path = scratch.0.join("lifeline");
        assert!(Command::new("mkfifo").arg(&path).status().unwrap().success());
        let pipe = BufReader::new(pipe::OpenOptions::new().open_receiver(&path).unwrap());
        Self {
            _scratch: scratch,
            path,
            pipe,
        }
    }

    /// A shell that holds the pipe and runs the script, which prints `up` once its children run.
    fn shell(&self, script: &str) -> AgentDef {
        program("sh", &["-c", &format!("exec 9>'{}'; {script}", self.path.display())])
    }

    async fn begun(&mut self) {
        let mut line = String::new();
        within("the program to begin", self.pipe.read_line(&mut line))
            .await
            .unwrap();
        assert_eq!(line, "up\n");
    }

    async fn ended(mut self) {
        within("every process to end", self.pipe.read_to_end(&mut Vec::new()))
            .await
            .unwrap();
    }
}

#[tokio::test]
async fn a_stopped_step_kills_the_children_of_its_program() {
    let mut lifeline = Lifeline::new();
    let agent = lifeline.shell("(sleep 1000 & sleep 1000 & echo up >&9; wait)");
    let tools = command_tools(commands(Commands::Allow));
    let mut context = TestContext::default();
    {
        let mut work = pin!(Task::new(&agent, "").done(&tools, &mut context));
        tokio::select! {
            done = &mut work => panic!("{done:?}"),
            () = lifeline.begun() => {}
        }
    }
    lifeline.ended().await;
}

#[tokio::test]
async fn a_timeout_kills_the_children() {
    // On a busy machine the children may not have started before the shorter limits are over.
    for limit in [200, 2_000, 20_000].map(Duration::from_millis) {
        let mut lifeline = Lifeline::new();
        let agent = lifeline.shell("trap '' TERM INT HUP; (sleep 1000 & echo up >&9; wait)");
        let tools = command_tools(RunsSettings {
            command_timeout: limit,
            ..commands(Commands::Allow)
        });
        let mut context = TestContext::default();
        let mut work = pin!(Task::new(&agent, "").done(&tools, &mut context));
        tokio::select! {
            biased;
            () = lifeline.begun() => {
                assert!(work.await.unwrap_err().contains("(runs.command_timeout_seconds) and was stopped"));
                return lifeline.ended().await;
            }
            _ = &mut work => {}
        }
    }
    panic!("the children did not begin in time");
}

#[tokio::test]
async fn background_children_end_with_their_program() {
    let lifeline = Lifeline::new();
    let agent = lifeline.shell("sleep 1000 & echo done");
    let tools = command_tools(commands(Commands::Allow));
    let done = Task::new(&agent, "")
        .done(&tools, &mut TestContext::default())
        .await
        .unwrap();
    assert_eq!(done.text, "done");
    lifeline.ended().await;
}
