//! One module per command. A command returns its output; only `main` writes to the terminal.

mod admin;
pub mod agent_commands;
mod answer;
pub mod audit;
pub mod demo;
pub mod doctor;
mod local_hub;
mod run;
mod runs;
pub mod serve;
pub mod shell_files;
mod show;
pub mod skill;
pub mod smoke;
pub mod store;
mod terminals;

pub use answer::ItemRef;
use anyhow::Result;
use countersign_client::data_dir;
use countersign_client::hub::{HubClient, HubLocation, typed};
use countersign_client::screen;
use countersign_terminal::InboxOutput;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::args::{ClientCommand, Globals};

/// The output of a command and its exit code. A command that could not do its work returns an error instead.
pub struct Finished {
    pub text: String,
    pub code: u8,
}

impl Finished {
    pub fn silent() -> Self {
        Self::ok(String::new())
    }

    pub fn ok(text: String) -> Self {
        Self::with_code(text, 0)
    }

    /// The command completed, and its result is bad news.
    pub fn failed(text: String) -> Self {
        Self::with_code(text, 1)
    }

    pub fn with_code(text: String, code: u8) -> Self {
        Self { text, code }
    }
}

pub async fn run(command: ClientCommand, globals: &Globals) -> Result<Finished> {
    let data = || data_dir::resolve(globals.data.as_deref());
    let client = &HubClient::new(HubLocation::find(data)?)?;
    let json = globals.json;
    let text = match command {
        ClientCommand::Agent(command) => admin::agent::run(command, client, json).await,
        ClientCommand::Secret(command) => admin::secret::run(command, client, json).await,
        ClientCommand::Person(command) => admin::person::run(command, client, json).await,
        ClientCommand::Inbox(args) => {
            let output = InboxOutput {
                data: data().ok(),
                json,
                colours: globals.color.allows(),
            };
            countersign_terminal::run(&args, client, output).await
        }
        ClientCommand::Show { id } => show::run(&id, client, data, json).await,
        ClientCommand::Answer(args) => answer::run(args, client, data, json).await,
        ClientCommand::Terminals => terminals::run(client, json).await,
        ClientCommand::Ahead(args) => terminals::ahead::run(&args, client, json).await,
        ClientCommand::Run(args) => return run::run(&args, client, json).await,
        ClientCommand::Runs(args) => return runs::run(args, client, json).await,
        ClientCommand::Delivery(command) => admin::delivery::run(command, client, json).await,
        ClientCommand::Key(command) => admin::key::run(command, client, json).await,
    };
    text.map(Finished::ok)
}

/// The hub's reply: verbatim JSON for machines, rendered by `format` for people.
fn present<T: DeserializeOwned>(reply: &Value, json: bool, format: impl FnOnce(T) -> String) -> Result<String> {
    if json {
        return Ok(screen::json(reply));
    }
    Ok(format(typed(reply)?))
}
