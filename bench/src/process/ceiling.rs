use std::net::SocketAddr;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};

use super::Target;
use super::child::Server;
use super::scratch::Scratch;
use crate::load::Connection;

const READY_TIMEOUT: Duration = Duration::from_secs(10);

/// The ceiling in its own process: this program, started a second time.
pub struct Ceiling {
    server: Server,
    scratch: Scratch,
    pub target: Target,
}

impl Ceiling {
    pub async fn start(root: &Path) -> Result<Self> {
        Self::start_in(Scratch::new(root, "ceiling")?).await
    }

    /// Stops the ceiling and starts it again on the same data.
    pub async fn restart(self) -> Result<Self> {
        self.server.stop().await?;
        Self::start_in(self.scratch).await
    }

    async fn start_in(scratch: Scratch) -> Result<Self> {
        let log = scratch.path().join("log");
        // The log of the previous process holds an old address.
        let _ = std::fs::remove_file(&log);
        // Not by its path: a build in the meantime would replace the program there.
        let mut command = Command::new("/proc/self/exe");
        command
            .args(["ceiling", "--listen", "127.0.0.1:0", "--db"])
            .arg(scratch.path().join("ceiling.db"));
        let mut server = Server::start(&mut command, &log)?;
        let address = address_in(&log, &mut server).await?;
        let (status, _) = Connection::call(address, "GET", "/health", None, None).await?;
        ensure!(status == 200, "the ceiling's /health returned {status}");
        let target = Target {
            address,
            pid: server.pid(),
        };
        Ok(Self {
            server,
            scratch,
            target,
        })
    }
}

async fn address_in(log: &Path, server: &mut Server) -> Result<SocketAddr> {
    let deadline = Instant::now() + READY_TIMEOUT;
    loop {
        server.ensure_running()?;
        let printed = std::fs::read_to_string(log)?;
        if let Some(line) = printed.lines().next().filter(|_| printed.ends_with('\n')) {
            return Ok(line.parse()?);
        }
        ensure!(
            Instant::now() < deadline,
            "the ceiling did not print its address within {READY_TIMEOUT:?}"
        );
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
}
