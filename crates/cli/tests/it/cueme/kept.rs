//! An answer that nobody waited for reaches the agent with its next command, whatever that is about.

use serde_json::{Value, json};

use super::{Desk, answer, answered, envelope, item, offering, until_gone, waited_for};
use crate::harness::*;

/// Asks, is killed, and is answered so.
async fn left_behind(hub: &Hub, desk: &Desk, prompt: &str, resolution: Value) -> String {
    let confirm = json!({"type": "confirm", "confirm_label": "Deploy", "cancel_label": "Hold"});
    let mut process = desk.start(&["cue", "gavonel", "-"], offering(prompt, &confirm));
    let id = waited_for(hub, prompt).await;
    process.kill();
    until_gone(hub, &id).await;
    hub.owner.resolve(&id, resolution).await.expect(200);
    id
}

fn hold() -> Value {
    json!({"resolution": "answered", "value": "deny", "comment": "freeze until Monday"})
}

const HELD: &str = "The user answered:\n\nHold\n\nComment: freeze until Monday\n\n";

#[tokio::test(flavor = "multi_thread")]
async fn it_comes_before_the_answer_to_another_question_and_once() {
    let hub = Hub::start().await;
    let desk = Desk::beside(&hub);
    let first = left_behind(&hub, &desk, "Shall I deploy to production?", hold()).await;
    let (process, second) = desk.waiting(&hub, "gavonel", "Done with tests. What next?").await;
    assert_eq!(item(&hub, &first).await["fetched_at"], Value::Null, "nobody has it yet");
    answer(&hub, &second, "go on").await;
    let ran = process.finish();
    let told = format!("Earlier question: Shall I deploy to production?\n\n{HELD}Current question:\n\n");
    assert_eq!(
        (ran.stdout.as_str(), ran.stderr.as_str()),
        ((told + &answered("go on")).as_str(), "")
    );
    for id in [&first, &second] {
        assert!(
            item(&hub, id).await["fetched_at"].is_string(),
            "the hub knows that it arrived"
        );
    }
    desk.run(&["resume", "gavonel"], "").fails(1);
    let (process, third) = desk.waiting(&hub, "gavonel", "And now?").await;
    answer(&hub, &third, "stop").await;
    assert_eq!(process.finish().ok(), answered("stop"));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_oldest_comes_first_and_before_the_end_of_a_limit_too() {
    let hub = Hub::start().await;
    let desk = Desk::beside(&hub);
    let declined = json!({"resolution": "declined", "comment": "never"});
    let first = left_behind(&hub, &desk, "Deploy?", hold()).await;
    let second = left_behind(&hub, &desk, "Drop the table?", declined).await;
    let refused = "Earlier question: Drop the table?\n\nThe user declined.\n\nReason: never\n\n";
    let full = |language: &str| {
        let desk = desk.clone().env("CUEME_LANGUAGE", language);
        let mut command = std::process::Command::new("sh");
        let line = format!("exec {} resume gavonel > /dev/full", cueme_binary().display());
        command.args(["-c", &line]).envs(
            desk.command(&[])
                .get_envs()
                .filter_map(|(name, value)| Some((name, value?))),
        );
        Process::spawn(command, "").finish().fails(1)
    };
    assert!(full("en").contains("the answer is kept"));
    let ran = desk.run(&["cue", "gavonel", "-", "--max-wait", "1s"], envelope("What next?"));
    let told = format!("Earlier question: Deploy?\n\n{HELD}{refused}Current question:\n\nNo answer yet.");
    assert!(
        ran.stdout.starts_with(&told),
        "what was not printed before is told now: {ran:?}"
    );
    assert!(ran.stdout.ends_with("run `cueme resume gavonel`.\n"), "{ran:?}");
    for id in [&first, &second] {
        assert!(item(&hub, id).await["fetched_at"].is_string());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn resume_prints_what_was_kept_and_waits_only_for_what_is_open() {
    let hub = Hub::start().await;
    let desk = Desk::beside(&hub);
    left_behind(&hub, &desk, "Deploy?", hold()).await;
    left_behind(
        &hub,
        &desk,
        "Test?",
        json!({"resolution": "answered", "value": "approve"}),
    )
    .await;
    let text = desk
        .clone()
        .env("CUEME_LANGUAGE", "de")
        .run(&["resume", "gavonel"], "")
        .ok();
    let told = "Frühere Frage: Deploy?\n\nDie Antwort des Nutzers:\n\nHold\n\nKommentar: freeze until Monday\n\n\
        Aktuelle Frage:\n\nDie Antwort des Nutzers:\n\nDeploy\n";
    assert_eq!(text, told);
    left_behind(&hub, &desk, "Ship?", hold()).await;
    let paused = desk
        .clone()
        .env("CUEME_LANGUAGE", "zh")
        .start(&["pause", "gavonel", "Back soon"], "");
    answer(&hub, &waited_for(&hub, "Back soon").await, "approve").await;
    let told =
        "较早的问题：Ship?\n\n用户答复：\n\nHold\n\n备注：freeze until Monday\n\n当前问题：\n\n用户表示：继续。\n";
    assert_eq!(paused.finish().ok(), told);
    left_behind(&hub, &desk, "Sign?", hold()).await;
    let (mut process, open) = desk.waiting(&hub, "gavonel", "Publish?").await;
    process.kill();
    let resumed = desk.start(&["resume", "gavonel"], "");
    until_waiting(&hub, &open).await;
    answer(&hub, &open, "yes").await;
    let told = format!(
        "Earlier question: Sign?\n\n{HELD}Current question:\n\n{}",
        answered("yes")
    );
    assert_eq!(resumed.finish().ok(), told);
}

async fn until_waiting(hub: &Hub, id: &str) {
    let is_here = async || (item(hub, id).await["waiting_now"] == true).then_some(());
    eventually("a process waits", is_here).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_program_finds_it_in_a_field_of_its_own_with_its_files() {
    let hub = Hub::start().await;
    let desk = Desk::beside(&hub);
    let file = json!({"name": ".env", "media_type": "text/plain", "data": "aGk="});
    let kept = json!({"resolution": "answered", "value": "deny", "files": [file]});
    let first = left_behind(&hub, &desk, "Deploy?", kept).await;
    let process = desk.start(&["cue", "gavonel", "-", "--json"], envelope("What next?"));
    answer(&hub, &waited_for(&hub, "What next?").await, "go on").await;
    let told = process.finish().json();
    let earlier = told["earlier"].as_array().expect("a list");
    assert_eq!((&told["text"], earlier.len()), (&json!("go on"), 1), "{told}");
    let one = &earlier[0];
    assert_eq!(
        (&one["id"], &one["title"], &one["text"]),
        (&json!(first), &json!("Deploy?"), &json!("Hold"))
    );
    let path = one["files"][0]["path"].as_str().expect("a path");
    assert!(path.ends_with(&format!("{first}/.env")), "{path}");
    assert_eq!(std::fs::read(path).expect("saved"), b"hi");
    let process = desk.start(&["cue", "gavonel", "-", "--json"], envelope("And now?"));
    answer(&hub, &waited_for(&hub, "And now?").await, "stop").await;
    assert_eq!(process.finish().json()["earlier"], Value::Null);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_another_process_of_the_agent_waits_for_is_its_own() {
    let hub = Hub::start().await;
    let desk = Desk::beside(&hub);
    let questions = ["One?", "Two?", "Three?"];
    let mut asked = Vec::new();
    for question in questions {
        asked.push(desk.waiting(&hub, "gavonel", question).await);
    }
    for (_, id) in &asked {
        answer(&hub, id, format!("for {id}")).await;
    }
    for (process, id) in asked {
        assert_eq!(process.finish().ok(), answered(&format!("for {id}")));
    }
}
