//! The agent's side of a decision: ask, perhaps go away, come back, and act at most once on an answer that is genuine.

mod act;
mod ask;
mod crash;
mod deliveries;
mod example;
mod journal;
mod kinds;
mod local;
mod lost;
mod machine;
mod own;
mod receive;
mod refused;
mod resume;
mod rotation;
mod sdk;
mod secrets;
mod verify;

use crate::harness::{Agent, Hub, Process, Setup, Terminal};

/// A hub that pushes to this machine, an agent, and a terminal where that agent's commands run.
async fn stage() -> (Hub, Agent, Terminal) {
    let hub = Setup::pushing().start().await;
    let bot = hub.agent("acme/deployer").await;
    let terminal = Terminal::remote(&hub, &hub.url, &bot);
    (hub, bot, terminal)
}

/// Starts a command that waits for a person, and reads the id of its message from what it says meanwhile.
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

/// How many asks and tasks the hub holds open.
async fn open_items(hub: &Hub) -> usize {
    hub.owner.get("/v1/inbox").await.expect(200)["items"]
        .as_array()
        .map_or(0, Vec::len)
}

/// How many messages the agent has ever handed to the hub.
async fn messages(agent: &Agent) -> usize {
    agent.get("/v1/messages?limit=100").await.expect(200)["messages"]
        .as_array()
        .expect("messages")
        .len()
}
