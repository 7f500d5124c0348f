//! The list of runs, the latest first.

use anyhow::Result;
use countersign_client::hub::{HubClient, typed};
use countersign_client::screen::{self, TextTable};
use countersign_protocol::api::runs::{ListedRun, RunsPage};
use serde_json::Value;

use super::summary::{status_label, took, waiting_label};

/// The memory limit, even if all runs are wanted.
const MAX_RUNS: usize = 10_000;
const PAGE_SIZE: usize = 100;

/// Lists all runs without `max_runs`.
pub async fn run(max_runs: Option<usize>, client: &HubClient, json: bool) -> Result<String> {
    let runs = read(client, max_runs.unwrap_or(MAX_RUNS)).await?;
    if json {
        return Ok(screen::json(&Value::Array(runs)));
    }
    let runs: Vec<ListedRun> = runs.iter().map(typed).collect::<Result<_, _>>()?;
    Ok(render(&runs, jiff::Timestamp::now()))
}

async fn read(client: &HubClient, max_runs: usize) -> Result<Vec<Value>> {
    let mut runs: Vec<Value> = Vec::new();
    let mut cursor: Option<String> = None;
    loop {
        let limit = (max_runs - runs.len()).min(PAGE_SIZE).to_string();
        let mut query = vec![("limit", limit.as_str())];
        query.extend(cursor.as_deref().map(|cursor| ("cursor", cursor)));
        let mut page: RunsPage<Value> = typed(&client.get(&["v1", "runs"], &query).await?)?;
        runs.append(&mut page.runs);
        // A repeated cursor would loop forever.
        if page.next_cursor.is_none() || page.next_cursor == cursor || runs.len() >= max_runs {
            break;
        }
        cursor = page.next_cursor;
    }
    runs.truncate(max_runs);
    Ok(runs)
}

fn render(runs: &[ListedRun], now: jiff::Timestamp) -> String {
    let mut table = TextTable::new(&["RUN", "STATUS", "STARTED", "TOOK", "STRATEGY", "WAITS FOR"]);
    for run in runs {
        let waiting: Vec<String> = run.waiting.iter().map(|waiting| waiting_label(waiting, now)).collect();
        table.row([
            run.run_id.clone(),
            status_label(run).to_owned(),
            run.started_at.to_string(),
            took(run, now),
            run.strategy_name.clone(),
            waiting.join(", "),
        ]);
    }
    table.render_or("No runs yet: start one with `countersign run FILE`.")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_run_is_one_line_with_what_it_waits_for() {
        let run = |extra: Value| {
            let mut run = json!({
                "run_id": "r1", "strategy_name": "Topic\n\u{1b}[2J", "strategy_path": "/a.yaml", "cwd": "/srv",
                "status": "running", "started_at": "2026-06-04T14:50:00.000Z", "completed_at": null, "waiting": [],
            });
            run.as_object_mut().unwrap().extend(extra.as_object().unwrap().clone());
            serde_json::from_value::<ListedRun>(run).unwrap()
        };
        let asks = |kind: &str| {
            json!({
                "kind": kind, "agent_name": "editor", "message_id": "msg_1", "prompt": "?", "since": "2026-06-04T14:55:00.000Z",
            })
        };
        let waiting = run(json!({"waiting": [asks("input"), asks("permission")]}));
        let ended = run(json!({"status": "completed", "completed_at": "2026-06-04T14:50:30.000Z"}));
        let text = render(&[waiting, ended], "2026-06-04T15:00:00Z".parse().unwrap());
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines.len(), 3, "{text}");
        assert!(
            lines[1].contains("waiting") && lines[1].contains("10m") && !lines[1].contains('\u{1b}'),
            "{text}"
        );
        assert!(
            lines[1].ends_with("editor for 5m, editor (permission) for 5m"),
            "{text}"
        );
        assert!(lines[2].contains("completed") && lines[2].contains("30s"), "{text}");
    }
}
