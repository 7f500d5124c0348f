use std::fs;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use countersign_protocol::api::HubFile;
use serde_json::{Value, json};

use super::child::Server;
use super::scratch::Scratch;
use super::{Target, browser};
use crate::load::Connection;

const READY_TIMEOUT: Duration = Duration::from_secs(60);

/// No limits: with them the bench would measure the limit and not the hub.
const WITHOUT_LIMITS: &str = "[limits]\nrequests_per_minute = 0\ninbox_depth = 0\n";
/// The default rate limit, with its burst of thousands of requests per agent.
const WITH_RATE_LIMIT: &str = "[limits]\ninbox_depth = 0\n";

#[derive(Clone)]
pub struct HubOptions {
    pub binary: PathBuf,
    pub root: PathBuf,
    pub loopback_callbacks: bool,
    /// The database of the hub; `None` means its own SQLite file.
    pub database_url: Option<String>,
    /// Whether the default rate limit is on.
    pub rate_limit: bool,
}

/// A real hub process with its own data directory.
pub struct Hub {
    server: Server,
    scratch: Scratch,
    options: HubOptions,
    owner_token: String,
    terminal_token: String,
    pub target: Target,
    /// The time from process start to the first 200 of /health.
    pub ready_after: Duration,
}

#[derive(Clone)]
pub struct Agent {
    pub id: String,
    pub token: String,
}

impl Hub {
    pub async fn start(options: &HubOptions) -> Result<Self> {
        let scratch = Scratch::new(&options.root, "hub")?;
        let config = if options.rate_limit {
            WITH_RATE_LIMIT
        } else {
            WITHOUT_LIMITS
        };
        fs::write(scratch.path().join("config.toml"), config)?;
        Self::start_in(scratch, options.clone()).await
    }

    /// Stops the hub and starts it again on the same data.
    pub async fn restart(self) -> Result<Self> {
        self.server.stop().await?;
        Self::start_in(self.scratch, self.options).await
    }

    /// Stops the hub and keeps its data.
    pub async fn stop(self) -> Result<Scratch> {
        self.server.stop().await?;
        Ok(self.scratch)
    }

    /// Kills the hub and starts it again on the same data.
    pub async fn crash_and_restart(self) -> Result<Self> {
        drop(self.server);
        Self::start_in(self.scratch, self.options).await
    }

    async fn start_in(scratch: Scratch, options: HubOptions) -> Result<Self> {
        let data = scratch.path().join("data");
        // A killed hub leaves its file behind, which would be taken for the one of the new process.
        let _ = fs::remove_file(data.join("hub.json"));
        let mut command = Command::new(&options.binary);
        command.args(["serve", "--listen", "127.0.0.1:0", "--data"]).arg(&data);
        command.arg("--config").arg(scratch.path().join("config.toml"));
        if options.loopback_callbacks {
            command.arg("--allow-loopback-callbacks");
        }
        if let Some(url) = &options.database_url {
            command.args(["--database-url", url]);
        }
        let started = Instant::now();
        let mut server = Server::start(&mut command, &scratch.path().join("log"))?;
        let (file, address) = ready(&data.join("hub.json"), &mut server, started)
            .await
            .with_context(|| {
                let log = fs::read_to_string(scratch.path().join("log")).unwrap_or_default();
                format!("the hub is not ready; its log:\n{log}")
            })?;
        let ready_after = started.elapsed();
        let target = Target {
            address,
            pid: server.pid(),
        };
        Ok(Self {
            server,
            scratch,
            options,
            owner_token: file.token,
            terminal_token: file.terminal_token.unwrap_or_default(),
            target,
            ready_after,
        })
    }

    pub fn owner_token(&self) -> &str {
        &self.owner_token
    }

    pub fn terminal_token(&self) -> &str {
        &self.terminal_token
    }

    pub fn data(&self) -> PathBuf {
        self.scratch.path().join("data")
    }

    pub async fn add_agent(&self, id: &str) -> Result<Agent> {
        let made = self.admin("/v1/admin/agents", json!({ "id": id }), 201).await?;
        let token = made["token"].as_str().context("the new agent has no token")?;
        Ok(Agent {
            id: id.to_owned(),
            token: token.to_owned(),
        })
    }

    pub async fn approve_callback(&self, agent: &Agent, host: SocketAddr) -> Result<()> {
        let body = json!({ "agent_id": agent.id, "host": host.to_string() });
        self.admin("/v1/admin/callbacks/approve", body, 200).await?;
        Ok(())
    }

    pub async fn add_person(&self, name: &str) -> Result<()> {
        self.admin("/v1/admin/people", json!({ "name": name, "role": "resolver" }), 201)
            .await?;
        Ok(())
    }

    /// Signs a person in and returns the session cookie.
    pub async fn sign_in(&self, name: &str) -> Result<String> {
        let made = self
            .admin("/v1/admin/people/link", json!({ "name": name }), 200)
            .await?;
        let link = made["url"].as_str().context("no link was made")?;
        let path = link
            .find("/signin/")
            .map(|start| &link[start..])
            .context("no sign-in link")?;
        browser::redeem(self.target.address, path).await
    }

    async fn admin(&self, path: &str, body: Value, expect: u16) -> Result<Value> {
        let (status, reply) =
            Connection::call(self.target.address, "POST", path, Some(&self.owner_token), Some(body)).await?;
        ensure!(status == expect, "{path} returned {status}: {reply}");
        Ok(reply)
    }
}

async fn ready(file: &std::path::Path, server: &mut Server, started: Instant) -> Result<(HubFile, SocketAddr)> {
    loop {
        server.ensure_running()?;
        let found = fs::read(file)
            .ok()
            .and_then(|text| serde_json::from_slice::<HubFile>(&text).ok());
        if let Some(found) = found.filter(|found| found.pid == Some(server.pid())) {
            let address: SocketAddr = found.url.trim_start_matches("http://").trim_end_matches('/').parse()?;
            if let Ok((200, _)) = Connection::call(address, "GET", "/health", None, None).await {
                return Ok((found, address));
            }
        }
        ensure!(started.elapsed() < READY_TIMEOUT, "no /health within {READY_TIMEOUT:?}");
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
}
