//! Opens the state in a new process that has only the key and the returned state.

use std::io::Write;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};
use countersign_agent::Resolved;
use countersign_client::screen::escape;
use serde_json::Value;

use super::agent_half::AgentHalf;

pub fn open(agent_half: &AgentHalf, resolved: &Resolved) -> Result<String> {
    let token = agent_half.token(resolved)?;
    let program = std::env::current_exe().context("the path of this program is unknown")?;
    let mut child = Command::new(program)
        .arg("open")
        .args(agent_half.seal_key.flags())
        .args(["--bind", &agent_half.agent_id, &agent_half.key])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .context("a new process cannot be started")?;
    // Dropped at the end of the block, which closes the child's input.
    if let Some(mut input) = child.stdin.take() {
        input
            .write_all(token.as_bytes())
            .context("the new process does not read its input")?;
    }
    let output = child.wait_with_output()?;
    if !output.status.success() {
        bail!(
            "it could not open the state: {}",
            escape(String::from_utf8_lossy(&output.stderr).trim())
        );
    }
    let opened: Value = serde_json::from_slice(&output.stdout).context("its output is not JSON")?;
    if opened != agent_half.state {
        bail!("it opened a state that differs from the sealed one");
    }
    Ok("`countersign open` in a new process got the state back".to_owned())
}
