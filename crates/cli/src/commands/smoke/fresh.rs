//! Opens the state in a process of its own, which knows nothing but the key and what came back.

use std::io::Write;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};
use countersign_agent::Resolved;
use serde_json::Value;

use super::trial::Trial;
use crate::screen::escape;

pub fn open(trial: &Trial, resolved: &Resolved) -> Result<String> {
    let token = trial.token(resolved)?;
    let program = std::env::current_exe().context("this program does not know its own place")?;
    let mut child = Command::new(program)
        .arg("open")
        .args(trial.seal_key.flags())
        .args(["--bind", &trial.agent_id, &trial.key])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .context("a fresh process cannot be started")?;
    // Dropped at the end of the block, so that the other side sees the end.
    if let Some(mut input) = child.stdin.take() {
        input
            .write_all(token.as_bytes())
            .context("the fresh process does not read")?;
    }
    let output = child.wait_with_output()?;
    if !output.status.success() {
        bail!(
            "it could not open the state: {}",
            escape(String::from_utf8_lossy(&output.stderr).trim())
        );
    }
    let opened: Value = serde_json::from_slice(&output.stdout).context("what it printed is not JSON")?;
    if opened != trial.state {
        bail!("it opened another state than was sealed");
    }
    Ok("`countersign open` in a new process got the state back".to_owned())
}
