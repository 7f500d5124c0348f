use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};

use anyhow::{Context, Result, bail, ensure};
use tokio_postgres::{Client, Config, NoTls};

use super::scratch::Scratch;

const SCRIPT: &str = include_str!("../../../crates/store/tests/private-postgres");
const USER: &str = "countersign";

/// A private PostgreSQL with its data on the disk of the bench. It stops with its handle.
pub struct Postgres {
    script: Child,
    /// The script's stdin: its end stops the server, even if this process is killed.
    alive: Option<ChildStdin>,
    socket: String,
    pub pid: u32,
    // Last field, so that the directory is removed after the server has stopped.
    _scratch: Scratch,
}

impl Postgres {
    pub fn start(root: &Path) -> Result<Self> {
        let scratch = Scratch::new(root, "postgres")?;
        let mut command = Command::new("bash");
        command.args(["-c", SCRIPT, "private-postgres"]).arg(scratch.path());
        let mut script = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .context("cannot start bash")?;
        let alive = script.stdin.take();
        let stdout = script.stdout.take().context("no stdout")?;
        let mut line = String::new();
        BufReader::new(stdout).read_line(&mut line)?;
        let settings = line.strip_prefix("host=").and_then(|rest| rest.split_once(' '));
        let Some((socket, _user)) = settings else {
            drop(alive);
            bail!("no PostgreSQL: {}", script.wait()?);
        };
        let socket = socket.to_owned();
        let pid_file = std::fs::read_to_string(scratch.path().join("postgres/data/postmaster.pid"))?;
        let pid = pid_file.lines().next().unwrap_or_default().parse()?;
        Ok(Self {
            script,
            alive,
            socket,
            pid,
            _scratch: scratch,
        })
    }

    /// The URL of a database, for a hub.
    pub fn url(&self, database: &str) -> String {
        format!("postgres://{USER}@{}/{database}", self.socket.replace('/', "%2F"))
    }

    pub async fn create(&self, database: &str) -> Result<()> {
        let plain = database
            .bytes()
            .all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit());
        ensure!(plain, "{database} would have to be quoted");
        self.connect("postgres")
            .await?
            .batch_execute(&format!("CREATE DATABASE {database}"))
            .await?;
        Ok(())
    }

    /// Connects to a database; the connection ends with its client.
    pub async fn connect(&self, database: &str) -> Result<Client> {
        let (client, connection) = Config::new()
            .host_path(&self.socket)
            .user(USER)
            .dbname(database)
            .connect(NoTls)
            .await?;
        tokio::spawn(async move {
            // An error of the connection shows up in its statements.
            let _ = connection.await;
        });
        Ok(client)
    }
}

impl Drop for Postgres {
    fn drop(&mut self) {
        drop(self.alive.take());
        // Waits, so that its processor time is counted as ours. Fails only when the script has already ended.
        let _ = self.script.wait();
    }
}
