//! The run of the demo: it asks a person in the middle of its flow.

use std::cell::RefCell;
use std::fs;
use std::time::Duration;

use anyhow::Result;
use countersign_client::hub::{HubClient, typed};
use countersign_protocol::api::runs::ListedRun;
use serde_json::{Value, json};
use tokio::time::sleep;

use crate::args::RunArgs;
use crate::commands::smoke::ScratchDir;
use crate::commands::{run, runs};

const LOOK_INTERVAL: Duration = Duration::from_secs(1);

pub struct DemoRun<'a> {
    owner: &'a HubClient,
    strategy: Value,
    /// The run that has not ended.
    going: RefCell<Option<String>>,
}

impl<'a> DemoRun<'a> {
    /// With `commands`, the hub asks a person before it runs a command; most hubs run none, and then the run asks for a
    /// text.
    pub fn new(owner: &'a HubClient, commands: bool) -> Self {
        let asking = if commands {
            json!({"type": "command", "config": {"program": "echo", "args": ["published", "notes-2.4.md"]}})
        } else {
            json!({"type": "user", "config": {"presetMessage": "Publish these notes? Write what to change, or \"ok\"."}})
        };
        let draft = "Shop 2.4: faster checkout, a fix for broken invoices.";
        let steps: Vec<Value> = ["draft", "publish"]
            .iter()
            .map(|agent| json!({ "agent": agent }))
            .collect();
        Self {
            owner,
            strategy: json!({
                "name": "Release notes",
                "version": "1.0",
                "agents": {"draft": {"type": "template", "config": {"template": draft}}, "publish": asking},
                "flow": {"name": "Main", "type": "sequential", "steps": steps},
            }),
            going: RefCell::new(None),
        }
    }

    /// Starts the run, and returns when it has ended.
    pub async fn play(&self, scratch: &ScratchDir) -> Result<String> {
        let file = scratch.path("release-notes.json");
        fs::write(&file, self.strategy.to_string())?;
        let args = RunArgs {
            file,
            input: "Write the release notes of shop 2.4".to_owned(),
            run_id: None,
            model: None,
            cwd: Some(scratch.directory().to_owned()),
            no_wait: true,
        };
        let started = run::run(&args, self.owner, true).await?;
        let started: Value = serde_json::from_str(&started.text)?;
        let id = started["run_id"].as_str().unwrap_or_default().to_owned();
        self.going.replace(Some(id.clone()));
        loop {
            let listed: ListedRun = typed(&self.owner.get(&["v1", "runs", &id], &[]).await?)?;
            if listed.completed_at.is_some() {
                self.going.replace(None);
                return Ok(listed.status);
            }
            sleep(LOOK_INTERVAL).await;
        }
    }

    pub async fn stop(&self) -> Result<()> {
        let going = self.going.take();
        if let Some(id) = going {
            runs::stop::run(&id, self.owner, true).await?;
        }
        Ok(())
    }
}
