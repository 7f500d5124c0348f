//! Coming back for the outcome by the page's own `wait`.

use anyhow::{Context, Result, bail};
use countersign_client::screen::escape;
use serde_json::Value;

use super::agent_half::{AgentHalf, owned};
use super::page_commands::{Rule, adapt};

/// Runs the page's `wait` once; `act` is what it must say about the act.
async fn wait(agent_half: &AgentHalf, act: &str) -> Result<()> {
    let rules = vec![
        ("--timeout", Rule::May(1, owned(&["--timeout", "25s"]))),
        ("--agent", Rule::May(1, owned(&["--agent", &agent_half.agent_id]))),
        agent_half.exec_rule(),
    ];
    let mut args = adapt(agent_half.page.get("wait")?, &[&agent_half.key], rules)?;
    args.insert(1, "--json".to_owned());
    let ran = agent_half.process.run(&args, b"").await?;
    let report: Value = serde_json::from_str(&ran.stdout).unwrap_or_default();
    if ran.code != Some(0) || report["act"] != act {
        bail!("the page's `countersign wait` failed: {}", ran.complaint());
    }
    Ok(())
}

/// The outcome that was acted on.
pub async fn first(agent_half: &AgentHalf) -> Result<(Value, String)> {
    wait(agent_half, "done").await?;
    let outcome = agent_half.acts()?.pop().context("nothing was done")?;
    let id = escape(outcome["resolution_id"].as_str().unwrap_or_default());
    let text = format!("`countersign wait` of the page acted on {id}");
    Ok((outcome, text))
}

pub async fn again(agent_half: &AgentHalf) -> Result<String> {
    wait(agent_half, "before").await?;
    Ok("the same outcome again: nothing is done".to_owned())
}
