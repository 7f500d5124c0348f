//! Stops a run, and reports it as stopped only after the hub confirms.

use anyhow::Result;
use countersign_client::hub::{ClientError, HubClient};
use countersign_client::screen::{self, escape};
use serde_json::{Value, json};

pub async fn run(run_id: &str, client: &HubClient, json: bool) -> Result<String> {
    let before = read(run_id, client).await?;
    let was_over = !is_going(&before);
    if !was_over {
        client.post(&["v1", "runs", run_id, "stop"], &json!({})).await?;
    }
    let run = read(run_id, client).await?;
    Ok(if json {
        screen::json(&run)
    } else {
        stop_text(run_id, &run, was_over)
    })
}

async fn read(run_id: &str, client: &HubClient) -> Result<Value, ClientError> {
    client.get(&["v1", "runs", run_id], &[]).await
}

fn is_going(run: &Value) -> bool {
    matches!(run["status"].as_str(), Some("running" | "pending"))
}

/// The run may have ended by itself in the meantime.
fn stop_text(run_id: &str, run: &Value, was_over: bool) -> String {
    let run_id = escape(run_id);
    let status = escape(run["status"].as_str().unwrap_or_default());
    match status.as_str() {
        _ if was_over => format!("Run {run_id} had already ended: {status}.\n"),
        "cancelled" => format!("Run {run_id} is stopped.\n"),
        _ => format!("Run {run_id} was not stopped: {status}.\n"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_is_reported_as_stopped_only_if_it_was() {
        let text = |status: &str, was_over| stop_text("r1", &json!({ "status": status }), was_over);
        assert_eq!(text("cancelled", false), "Run r1 is stopped.\n");
        assert_eq!(text("completed", false), "Run r1 was not stopped: completed.\n");
        assert_eq!(text("cancelled", true), "Run r1 had already ended: cancelled.\n");
    }
}
