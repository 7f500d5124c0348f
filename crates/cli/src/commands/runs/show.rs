//! One run: its state, and the next commands.

use anyhow::Result;
use countersign_client::hub::HubClient;
use countersign_client::screen::{escape, instant_label, quote};
use countersign_protocol::api::runs::{ListedRun, RunDetails, RunStep, WaitingQuestion};

use super::super::present;
use super::summary::{status_label, took, waiting_label};

pub async fn run(run_id: &str, client: &HubClient, json: bool) -> Result<String> {
    let reply = client.get(&["v1", "runs", run_id], &[]).await?;
    present(&reply, json, |run: RunDetails| render(&run, jiff::Timestamp::now()))
}

fn render(run: &RunDetails, now: jiff::Timestamp) -> String {
    let one = &run.summary;
    let ended = one
        .completed_at
        .as_ref()
        .map(|at| instant_label(at, now))
        .unwrap_or_default();
    let lines = [
        ("Run", one.run_id.clone()),
        ("Status", status_label(one).to_owned()),
        ("Strategy", one.strategy_name.clone()),
        ("File", one.strategy_path.clone()),
        ("Directory", one.cwd.clone()),
        ("Agents", run.agents.join(", ")),
        ("Started", instant_label(&one.started_at, now)),
        ("Ended", ended),
        ("Took", took(one, now)),
    ];
    let lines = lines.into_iter().filter(|(_, text)| !text.is_empty());
    let mut text: String = lines
        .map(|(name, text)| format!("{name:<10} {}\n", escape(&text)))
        .collect();
    text.push_str(&steps(run));
    if let Some(error) = &run.error {
        text.push_str(&format!("\nError {}\n{}", escape(&error.code), quote(&error.message)));
    }
    one.waiting
        .iter()
        .for_each(|waiting| text.push_str(&asked(waiting, now)));
    text + &what_next(one)
}

/// The results of the steps.
fn steps(run: &RunDetails) -> String {
    if run.steps.is_empty() {
        return String::new();
    }
    let earlier = if run.earlier.is_some() { ", the last ones" } else { "" };
    format!("\nSteps{earlier}\n{}", run.steps.iter().map(step).collect::<String>())
}

fn step(step: &RunStep) -> String {
    let name = escape(&step.name);
    match &step.result {
        None => format!("  {name}, not done\n"),
        Some(result) => {
            let cut = if step.is_cut { ", and more" } else { "" };
            format!("  {name}{cut}\n{}", quote(&result.text))
        }
    }
}

fn asked(waiting: &WaitingQuestion, now: jiff::Timestamp) -> String {
    let prompt = quote(waiting.prompt.as_deref().unwrap_or_default());
    format!(
        "\nWaits for {}\n{prompt}  countersign show {}\n",
        escape(&waiting_label(waiting, now)),
        escape(&waiting.message_id)
    )
}

fn what_next(run: &ListedRun) -> String {
    let commands: &[&str] = match run.status.as_str() {
        "running" | "pending" => &["follow", "stop"],
        _ => &["follow", "continue"],
    };
    let id = escape(&run.run_id);
    let lines = commands.iter().map(|command| match *command {
        "continue" => format!("  countersign runs continue {id} --input TEXT\n"),
        command => format!("  countersign runs {command} {id}\n"),
    });
    format!("\nWhat next\n{}", lines.collect::<String>())
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn page(extra: Value) -> String {
        let mut run = json!({
            "run_id": "r1", "strategy_name": "Topic writer", "strategy_path": "/srv/a.yaml", "cwd": "/srv",
            "status": "running", "started_at": "2026-06-04T14:50:00.000Z", "completed_at": null,
        });
        run.as_object_mut().unwrap().extend(extra.as_object().unwrap().clone());
        render(
            &serde_json::from_value(run).unwrap(),
            "2026-06-04T15:00:00Z".parse().unwrap(),
        )
    }

    #[test]
    fn a_waiting_run_shows_its_questions_and_how_to_answer() {
        let asks = json!([{
            "kind": "input", "agent_name": "editor", "message_id": "msg_1", "prompt": "Is it\n\u{1b}fine?",
            "since": "2026-06-04T14:55:00.000Z",
        }]);
        let page = page(json!({"waiting": asks, "agents": ["draft", "editor"]}));
        assert!(
            page.contains("Status     waiting\n") && page.contains("Agents     draft, editor\n"),
            "{page}"
        );
        let asked = "Waits for editor for 5m\n  | Is it\n  | \\u{1b}fine?\n  countersign show msg_1\n";
        assert!(page.contains(asked), "{page}");
        assert!(
            page.ends_with("  countersign runs follow r1\n  countersign runs stop r1\n"),
            "{page}"
        );
    }

    #[test]
    fn steps_show_their_results_and_a_failure_its_reason() {
        let done =
            |text: &str, is_cut: bool| json!({"name": "dr\u{1b}aft", "result": {"text": text}, "is_cut": is_cut});
        let open = json!({"name": "print", "result": null, "is_cut": false});
        let error = json!({"code": "EXECUTION_ERROR", "message": "Step \"print\" failed"});
        let page =
            page(json!({"steps": [done("one\ntwo", true), open], "earlier": 7, "status": "error", "error": error}));
        let steps = "\nSteps, the last ones\n  dr\\u{1b}aft, and more\n  | one\n  | two\n  print, not done\n";
        assert!(page.contains(steps), "{page}");
        assert!(
            page.contains("\nError EXECUTION_ERROR\n  | Step \"print\" failed\n"),
            "{page}"
        );
    }

    #[test]
    fn a_run_that_has_ended_can_be_continued() {
        let page = page(json!({"status": "error", "completed_at": "2026-06-04T14:50:30.000Z"}));
        assert!(
            page.contains("Took       30s\n") && page.contains("runs continue r1 --input TEXT\n"),
            "{page}"
        );
    }
}
