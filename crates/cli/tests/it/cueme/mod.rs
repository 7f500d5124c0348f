//! `cueme` as a terminal agent runs it: the real program, a real hub, and a home directory per test.

mod answers;
mod background_hub;
mod concurrent;
mod crash;
mod envelope;
mod files;
mod fresh_machine;
mod join;
mod limits;
mod migrate;
mod pause;
mod remote_hub;
mod restart;
mod start;
mod trust;
mod uncollected;

use std::path::PathBuf;
use std::process::Command;

use serde_json::{Value, json};

use crate::harness::*;

/// The shell environment in which an agent runs `cueme`.
#[derive(Clone)]
struct AgentShell {
    home: PathBuf,
    data: PathBuf,
    envs: Vec<(String, String)>,
}

impl AgentShell {
    /// A shell on the hub's machine. `cueme` starts no hub itself, because some tests stop theirs on purpose.
    fn with_hub(hub: &Hub) -> Self {
        Self::at(hub.scratch()).env("CUEME_START_HUB", "0")
    }

    /// A shell without the reminder, so that tests can compare whole outputs.
    fn at(scratch: &Scratch) -> Self {
        Self {
            home: scratch.home(),
            data: scratch.data(),
            envs: vec![],
        }
        .env("CUEME_REMINDER", "off")
    }

    /// A later value for the same name wins.
    fn env(mut self, name: &str, value: &str) -> Self {
        self.envs.push((name.to_owned(), value.to_owned()));
        self
    }

    fn without(mut self, name: &str) -> Self {
        self.envs.retain(|(known, _)| known != name);
        self
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(cueme_binary());
        command
            .env_clear()
            .env("HOME", &self.home)
            .env("PATH", std::env::var_os("PATH").unwrap_or_default());
        command.env("COUNTERSIGN_DATA", &self.data).current_dir(&self.home);
        command.args(args).envs(self.envs.iter().cloned());
        command
    }

    fn start(&self, args: &[&str], input: impl AsRef<[u8]>) -> Process {
        Process::spawn(self.command(args), input)
    }

    fn run(&self, args: &[&str], input: impl AsRef<[u8]>) -> CommandOutput {
        self.start(args, input).finish()
    }

    fn join(&self) -> String {
        let joined = self.run(&["join", "claude_code", "--json"], "").json();
        joined["agent_id"].as_str().expect("a name").to_owned()
    }

    fn cue(&self, agent_id: &str, prompt: &str) -> Process {
        self.start(&["cue", agent_id, "-"], envelope(prompt))
    }

    /// Starts a cue, waits until its process is long-polling, and returns its id too.
    async fn waiting(&self, hub: &Hub, agent_id: &str, prompt: &str) -> (Process, String) {
        let process = self.cue(agent_id, prompt);
        let id = wait_for_request(hub, prompt).await;
        (process, id)
    }
}

fn envelope(prompt: &str) -> String {
    format!("<cueme_prompt>\n{prompt}\n</cueme_prompt>\n")
}

fn envelope_with(prompt: &str, payload: &Value) -> String {
    format!("{}<cueme_payload>\n{payload:#}\n</cueme_payload>\n", envelope(prompt))
}

/// The output for an answer with this text.
fn answered(text: &str) -> String {
    format!("The user answered:\n\n{text}\n")
}

async fn items(hub: &Hub) -> Vec<Value> {
    hub.owner.get("/v1/inbox").await.expect(200)["items"]
        .as_array()
        .expect("items")
        .clone()
}

async fn item(hub: &Hub, id: &str) -> Value {
    hub.owner.get(&format!("/v1/inbox/{id}")).await.expect(200)
}

/// Waits until a process waits for the open request with this title, and returns its id.
async fn wait_for_request(hub: &Hub, title: &str) -> String {
    eventually(&format!("a process waits for {title:?}"), async || {
        let found = items(hub).await.into_iter().find(|item| item["title"] == title)?;
        let id = found["id"].as_str().expect("an id").to_owned();
        (item(hub, &id).await["waiting_now"] == true).then_some(id)
    })
    .await
}

async fn until_gone(hub: &Hub, id: &str) {
    let is_gone = async || (item(hub, id).await["presence"]["state"] == "gone").then_some(());
    eventually("its process is gone", is_gone).await;
}

async fn answer(hub: &Hub, id: &str, value: impl Into<Value>) {
    hub.owner
        .resolve(id, json!({"resolution": "answered", "value": value.into()}))
        .await
        .expect(200);
}

/// A terminal token that survives a restart of the hub.
async fn terminal_token(hub: &Hub, person: &str) -> String {
    let made = hub
        .owner
        .post("/v1/admin/people/token", &json!({"name": person, "terminal": true}))
        .await
        .expect(200);
    made["token"].as_str().expect("a token").to_owned()
}
