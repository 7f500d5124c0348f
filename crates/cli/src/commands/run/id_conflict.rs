//! A run id that is already in use: says what can be done with that run, instead of the wire's error code.

use anyhow::{Result, bail};
use countersign_client::hub::{ClientError, HubClient};
use reqwest::StatusCode;
use serde_json::json;

use super::start::StartInput;

/// Checked before preparing, because preparing an ended run would continue it.
pub async fn check(client: &HubClient, run_id: &str, input: &StartInput) -> Result<()> {
    let Some(status) = status(client, run_id).await? else {
        return Ok(());
    };
    match conflict_text(run_id, &status, input) {
        Some(text) => bail!(text),
        None => Ok(()),
    }
}

/// Withdraws a preparation that could not be started, because it would block the next attempt. Best effort: without
/// followers it also gives way to the next preparation.
pub async fn withdraw_preparation(client: &HubClient, run_id: &str) {
    if let Ok(Some(status)) = status(client, run_id).await
        && status == "pending"
    {
        let _ = client.post(&["v1", "runs", run_id, "stop"], &json!({})).await;
    }
}

/// Returns `None` for an unknown run.
async fn status(client: &HubClient, run_id: &str) -> Result<Option<String>, ClientError> {
    match client.get(&["v1", "runs", run_id], &[]).await {
        Ok(run) => Ok(run["status"].as_str().map(str::to_owned)),
        Err(ClientError::Refused {
            status: StatusCode::NOT_FOUND,
            ..
        }) => Ok(None),
        Err(error) => Err(error),
    }
}

/// For a run that is only prepared, the hub decides.
fn conflict_text(run_id: &str, status: &str, input: &StartInput) -> Option<String> {
    match (input, status) {
        (_, "pending") => None,
        (StartInput::Start(_), "running") => Some(format!(
            "run {run_id} exists and is still running: `countersign runs follow {run_id}` follows it"
        )),
        (StartInput::Start(_), _) => Some(format!(
            "run {run_id} exists and has ended ({status}): `countersign runs continue {run_id} --input TEXT` continues it, \
             another --run-id starts a new one"
        )),
        (StartInput::Continue(_), "running") => Some(format!(
            "run {run_id} has not ended: `countersign runs follow {run_id}` follows it"
        )),
        (StartInput::Continue(_), _) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_in_use_is_reported_with_the_next_command() {
        let start = |status: &str| conflict_text("r1", status, &StartInput::Start(String::new())).unwrap_or_default();
        let go_on =
            |status: &str| conflict_text("r1", status, &StartInput::Continue(String::new())).unwrap_or_default();
        assert!(start("completed").contains("runs continue r1") && start("error").contains("has ended (error)"));
        assert!(start("running").contains("runs follow r1") && go_on("running").contains("runs follow r1"));
        assert_eq!(
            (start("pending"), go_on("pending"), go_on("cancelled")),
            Default::default()
        );
    }
}
