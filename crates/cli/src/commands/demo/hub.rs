//! The hub of the demo: the running one of the data directory, or a temporary one.

use std::fs;
use std::process::Stdio;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use countersign_client::address::read_hub_file;
use countersign_client::hub::{AddressSource, HubClient, HubLocation};
use countersign_client::screen;
use countersign_protocol::api::HubFile;
use rustix::process::{Pid, Signal, kill_process};
use tokio::process::{Child, Command};
use tokio::time::{sleep, timeout};

use crate::args::Globals;
use crate::commands::local_hub;
use crate::commands::smoke::ScratchDir;

const START_TIMEOUT: Duration = Duration::from_secs(30);
const LOOK_INTERVAL: Duration = Duration::from_millis(100);
const STOP_TIMEOUT: Duration = Duration::from_secs(30);
/// A person is asked before a run of the demo starts a program.
const CONFIG: &str = "[runs]\ncommands = \"ask\"\n";

pub struct DemoHub {
    pub owner: HubClient,
    /// The process of a temporary hub.
    process: Option<Child>,
}

impl DemoHub {
    pub async fn find_or_start(globals: &Globals, scratch: &ScratchDir) -> Result<Self> {
        if let Some(owner) = local_hub::owner(globals)? {
            return Ok(Self { owner, process: None });
        }
        Self::start(scratch).await
    }

    pub fn is_temporary(&self) -> bool {
        self.process.is_some()
    }

    async fn start(scratch: &ScratchDir) -> Result<Self> {
        let config = scratch.path("hub.toml");
        fs::write(&config, CONFIG)?;
        let data = scratch.path("data");
        screen::print_notice("No hub is running: starting one for the demo. It and its data are gone after Ctrl-C.");
        let mut process = Command::new(std::env::current_exe()?)
            .arg("serve")
            .arg("--data")
            .arg(&data)
            .arg("--config")
            .arg(&config)
            .env_remove("COUNTERSIGN_DATABASE_URL")
            .stdin(Stdio::null())
            .kill_on_drop(true)
            .spawn()
            .context("the hub cannot be started")?;
        let started = timeout(START_TIMEOUT, async {
            loop {
                if let Ok(HubFile { url, token, .. }) = read_hub_file(&data) {
                    return HubLocation::named(&url, token, AddressSource::DataDirectory(data.clone()));
                }
                if let Some(status) = process.try_wait()? {
                    bail!("the hub for the demo ended with {status}");
                }
                sleep(LOOK_INTERVAL).await;
            }
        });
        let location = started.await.context("the hub for the demo did not start in time")??;
        Ok(Self {
            owner: HubClient::new(location)?,
            process: Some(process),
        })
    }

    /// Stops a temporary hub. Ctrl-C reaches it as well, so it may be gone already.
    pub async fn stop(self) -> Result<()> {
        let Some(mut process) = self.process else { return Ok(()) };
        let pid = process
            .id()
            .and_then(|id| i32::try_from(id).ok())
            .and_then(Pid::from_raw);
        if let Some(pid) = pid {
            let _ = kill_process(pid, Signal::TERM);
        }
        timeout(STOP_TIMEOUT, process.wait())
            .await
            .context("the hub for the demo did not stop in time")??;
        Ok(())
    }
}
