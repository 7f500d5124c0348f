//! The runs there are, the latest first.

use anyhow::Result;
use serde_json::Value;

use super::summary::{Summary, Waiting};
use crate::client::{Client, typed};
use crate::screen::{self, Table};

/// As many as are held at once, even where all are wanted.
const MOST: usize = 10_000;
const PAGE_SIZE: usize = 100;

/// Without a number, all of them.
pub async fn run(most: Option<usize>, client: &Client, json: bool) -> Result<String> {
    let runs = read(client, most.unwrap_or(MOST)).await?;
    if json {
        return Ok(screen::json(&Value::Array(runs)));
    }
    let runs: Vec<Summary> = runs.iter().map(typed).collect::<Result<_, _>>()?;
    Ok(render(&runs, jiff::Timestamp::now()))
}

async fn read(client: &Client, most: usize) -> Result<Vec<Value>> {
    let mut runs: Vec<Value> = Vec::new();
    let mut cursor: Option<String> = None;
    loop {
        let limit = (most - runs.len()).min(PAGE_SIZE).to_string();
        let mut query = vec![("limit", limit.as_str())];
        query.extend(cursor.as_deref().map(|cursor| ("cursor", cursor)));
        let mut page = client.get(&["v1", "runs"], &query).await?;
        runs.append(&mut typed(&page["runs"].take())?);
        let next = page["next_cursor"].as_str().map(str::to_owned);
        // A cursor that comes back would never end.
        if next.is_none() || next == cursor || runs.len() >= most {
            break;
        }
        cursor = next;
    }
    runs.truncate(most);
    Ok(runs)
}

fn render(runs: &[Summary], now: jiff::Timestamp) -> String {
    let mut table = Table::new(&["RUN", "STATUS", "STARTED", "TOOK", "STRATEGY", "WAITS FOR"]);
    for run in runs {
        let waiting: Vec<String> = run.waiting.iter().map(|waiting: &Waiting| waiting.words(now)).collect();
        table.row([
            run.run_id.clone(),
            run.status_words().to_owned(),
            run.started_at.to_string(),
            run.took(now),
            run.strategy_name.clone(),
            waiting.join(", "),
        ]);
    }
    table.render_or("Nothing has been run yet: `countersign run FILE` does.")
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
            serde_json::from_value::<Summary>(run).unwrap()
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
