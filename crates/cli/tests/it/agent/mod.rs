//! The agent side of a decision: ask, perhaps exit and resume, and act at most once on a genuine answer.

mod action_log;
mod ask;
mod crash;
mod duplicates;
mod example;
mod journal;
mod json;
mod kinds;
mod local;
mod lost_replies;
mod own_agent;
mod receive;
mod refused;
mod resume;
mod rotation;
mod sdk;
mod secrets;
mod verify;

use crate::harness::{Agent, Hub, Process, Setup, Terminal};

/// A hub that may push to this machine, an agent, and a terminal for the commands of the agent.
async fn stage() -> (Hub, Agent, Terminal) {
    let hub = Setup::pushing().start().await;
    let bot = hub.agent("acme/deployer").await;
    let terminal = Terminal::remote(&hub, &hub.url, &bot);
    (hub, bot, terminal)
}

/// Starts a command that waits for a person, and reads the message id from its stderr.
async fn asked(terminal: &Terminal, args: &[&str]) -> (Process, String) {
    let process = terminal.start(args);
    let output = process.stderr_with("msg_").await;
    (process, message_id(&output))
}

/// The first message id in `text`.
#[track_caller]
fn message_id(text: &str) -> String {
    let from = text.find("msg_").unwrap_or_else(|| panic!("no message id in {text:?}"));
    text[from..]
        .chars()
        .take_while(|letter| letter.is_ascii_alphanumeric() || *letter == '_')
        .collect()
}

/// The number of open asks and tasks.
async fn open_items(hub: &Hub) -> usize {
    hub.owner.get("/v1/inbox").await.expect(200)["items"]
        .as_array()
        .map_or(0, Vec::len)
}

/// The number of messages that the agent has ever submitted.
async fn messages(agent: &Agent) -> usize {
    agent.get("/v1/messages?limit=100").await.expect(200)["messages"]
        .as_array()
        .expect("messages")
        .len()
}
