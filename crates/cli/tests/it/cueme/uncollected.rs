//! An uncollected answer reaches the agent with its next command.

use serde_json::{Value, json};

use super::{AgentShell, answer, answered, envelope, envelope_with, item, until_gone, wait_for_request};
use crate::harness::*;

/// Asks, is killed, and gets this resolution afterwards.
async fn answer_after_kill(hub: &Hub, shell: &AgentShell, prompt: &str, resolution: Value) -> String {
    let confirm = json!({"type": "confirm", "confirm_label": "Deploy", "cancel_label": "Hold"});
    let mut process = shell.start(&["cue", "gavonel", "-"], envelope_with(prompt, &confirm));
    let id = wait_for_request(hub, prompt).await;
    process.kill();
    until_gone(hub, &id).await;
    hub.owner.resolve(&id, resolution).await.expect(200);
    id
}

fn hold() -> Value {
    json!({"resolution": "answered", "value": "deny", "comment": "freeze until Monday"})
}

const HOLD_ANSWER: &str = "The user answered:\n\nHold\n\nComment: freeze until Monday\n\n";

#[tokio::test(flavor = "multi_thread")]
async fn an_uncollected_answer_is_printed_once_before_the_next_answer() {
    let hub = Hub::start().await;
    let shell = AgentShell::with_hub(&hub);
    let first = answer_after_kill(&hub, &shell, "Shall I deploy to production?", hold()).await;
    let (process, second) = shell.waiting(&hub, "gavonel", "Done with tests. What next?").await;
    assert_eq!(item(&hub, &first).await["fetched_at"], Value::Null, "not fetched yet");
    answer(&hub, &second, "go on").await;
    let ran = process.finish();
    let expected = format!("Earlier question: Shall I deploy to production?\n\n{HOLD_ANSWER}Current question:\n\n");
    assert_eq!(
        (ran.stdout.as_str(), ran.stderr.as_str()),
        ((expected + &answered("go on")).as_str(), "")
    );
    for id in [&first, &second] {
        assert!(
            item(&hub, id).await["fetched_at"].is_string(),
            "the hub marks it fetched"
        );
    }
    shell.run(&["resume", "gavonel"], "").fails(1);
    let (process, third) = shell.waiting(&hub, "gavonel", "And now?").await;
    answer(&hub, &third, "stop").await;
    assert_eq!(process.finish().ok(), answered("stop"));
}

#[tokio::test(flavor = "multi_thread")]
async fn uncollected_answers_come_oldest_first_even_when_the_wait_limit_ends() {
    let hub = Hub::start().await;
    let shell = AgentShell::with_hub(&hub);
    let declined = json!({"resolution": "declined", "comment": "never"});
    let first = answer_after_kill(&hub, &shell, "Deploy?", hold()).await;
    let second = answer_after_kill(&hub, &shell, "Drop the table?", declined).await;
    let refused = "Earlier question: Drop the table?\n\nThe user declined.\n\nReason: never\n\n";
    let full = |language: &str| {
        let shell = shell.clone().env("CUEME_LANGUAGE", language);
        let mut command = std::process::Command::new("sh");
        let line = format!("exec {} resume gavonel > /dev/full", cueme_binary().display());
        command.args(["-c", &line]).envs(
            shell
                .command(&[])
                .get_envs()
                .filter_map(|(name, value)| Some((name, value?))),
        );
        Process::spawn(command, "").finish().fails(1)
    };
    assert!(full("en").contains("the answer is kept"));
    let ran = shell.run(&["cue", "gavonel", "-", "--max-wait", "5s"], envelope("What next?"));
    let expected = format!("Earlier question: Deploy?\n\n{HOLD_ANSWER}{refused}Current question:\n\nNo answer yet.");
    assert!(
        ran.stdout.starts_with(&expected),
        "the uncollected answers are printed now: {ran:?}"
    );
    assert!(ran.stdout.ends_with("run `cueme resume gavonel`.\n"), "{ran:?}");
    for id in [&first, &second] {
        assert!(item(&hub, id).await["fetched_at"].is_string());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn resume_prints_uncollected_answers_and_waits_for_the_open_request() {
    let hub = Hub::start().await;
    let shell = AgentShell::with_hub(&hub);
    answer_after_kill(&hub, &shell, "Deploy?", hold()).await;
    answer_after_kill(
        &hub,
        &shell,
        "Test?",
        json!({"resolution": "answered", "value": "approve"}),
    )
    .await;
    let text = shell
        .clone()
        .env("CUEME_LANGUAGE", "de")
        .run(&["resume", "gavonel"], "")
        .ok();
    let expected = "Frühere Frage: Deploy?\n\nDie Antwort des Nutzers:\n\nHold\n\nKommentar: freeze until Monday\n\n\
        Aktuelle Frage:\n\nDie Antwort des Nutzers:\n\nDeploy\n";
    assert_eq!(text, expected);
    answer_after_kill(&hub, &shell, "Ship?", hold()).await;
    let paused = shell
        .clone()
        .env("CUEME_LANGUAGE", "zh")
        .start(&["pause", "gavonel", "Back soon"], "");
    answer(&hub, &wait_for_request(&hub, "Back soon").await, "approve").await;
    let expected =
        "较早的问题：Ship?\n\n用户答复：\n\nHold\n\n备注：freeze until Monday\n\n当前问题：\n\n用户表示：继续。\n";
    assert_eq!(paused.finish().ok(), expected);
    answer_after_kill(&hub, &shell, "Sign?", hold()).await;
    let (mut process, open) = shell.waiting(&hub, "gavonel", "Publish?").await;
    process.kill();
    let resumed = shell.start(&["resume", "gavonel"], "");
    until_waiting(&hub, &open).await;
    answer(&hub, &open, "yes").await;
    let expected = format!(
        "Earlier question: Sign?\n\n{HOLD_ANSWER}Current question:\n\n{}",
        answered("yes")
    );
    assert_eq!(resumed.finish().ok(), expected);
}

async fn until_waiting(hub: &Hub, id: &str) {
    let is_waiting = async || (item(hub, id).await["waiting_now"] == true).then_some(());
    eventually("a process waits", is_waiting).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn json_output_has_uncollected_answers_with_files_in_earlier() {
    let hub = Hub::start().await;
    let shell = AgentShell::with_hub(&hub);
    let file = json!({"name": ".env", "media_type": "text/plain", "data": "aGk="});
    let kept = json!({"resolution": "answered", "value": "deny", "files": [file]});
    let first = answer_after_kill(&hub, &shell, "Deploy?", kept).await;
    let process = shell.start(&["cue", "gavonel", "-", "--json"], envelope("What next?"));
    answer(&hub, &wait_for_request(&hub, "What next?").await, "go on").await;
    let output = process.finish().json();
    let earlier = output["earlier"].as_array().expect("a list");
    assert_eq!((&output["text"], earlier.len()), (&json!("go on"), 1), "{output}");
    let one = &earlier[0];
    assert_eq!(
        (&one["id"], &one["title"], &one["text"]),
        (&json!(first), &json!("Deploy?"), &json!("Hold"))
    );
    let path = one["files"][0]["path"].as_str().expect("a path");
    assert!(path.ends_with(&format!("{first}/.env")), "{path}");
    assert_eq!(std::fs::read(path).expect("saved"), b"hi");
    let process = shell.start(&["cue", "gavonel", "-", "--json"], envelope("And now?"));
    answer(&hub, &wait_for_request(&hub, "And now?").await, "stop").await;
    assert_eq!(process.finish().json()["earlier"], Value::Null);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_with_a_waiting_process_is_not_given_to_another() {
    let hub = Hub::start().await;
    let shell = AgentShell::with_hub(&hub);
    let questions = ["One?", "Two?", "Three?"];
    let mut asked = Vec::new();
    for question in questions {
        asked.push(shell.waiting(&hub, "gavonel", question).await);
    }
    for (_, id) in &asked {
        answer(&hub, id, format!("for {id}")).await;
    }
    for (process, id) in asked {
        assert_eq!(process.finish().ok(), answered(&format!("for {id}")));
    }
}
