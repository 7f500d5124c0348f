//! Wait limits, settings, and JSON output with exit codes.

use serde_json::{Value, json};

use super::{AgentShell, answer, answered, envelope, envelope_with, items, wait_for_request};
use crate::harness::*;

#[tokio::test(flavor = "multi_thread")]
async fn at_the_wait_limit_cueme_ends_with_resume_instructions() {
    let hub = Hub::start().await;
    let shell = AgentShell::with_hub(&hub);
    let text = shell
        .run(&["cue", "gavonel", "-", "--max-wait", "5s"], envelope("Ship it?"))
        .ok();
    assert!(
        text.starts_with("No answer yet.") && text.contains("`cueme resume gavonel`"),
        "{text}"
    );
    assert_eq!(text.lines().count(), 1, "{text}");
    let by_variable = shell
        .clone()
        .env("CUEME_MAX_WAIT", "5s")
        .run(&["resume", "gavonel"], "")
        .ok();
    assert_eq!(by_variable, text);
    let process = shell.start(&["resume", "gavonel"], "");
    let id = wait_for_request(&hub, "Ship it?").await;
    assert_eq!(items(&hub).await.len(), 1, "still one request");
    answer(&hub, &id, "yes").await;
    let ran = process.finish();
    assert_eq!(
        (ran.stdout.as_str(), ran.stderr.as_str()),
        (answered("yes").as_str(), "")
    );
    let stderr = shell.run(&["resume", "gavonel"], "").fails(1);
    assert!(stderr.contains("no answer to collect"), "{stderr}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_later_answer_is_collected_by_resume_or_the_same_cue() {
    let hub = Hub::start().await;
    let shell = AgentShell::with_hub(&hub);
    for again in ["resume", "cue"] {
        shell
            .run(&["cue", "gavonel", "-", "--max-wait", "5s"], envelope("Ship it?"))
            .ok();
        let id = items(&hub).await[0]["id"].as_str().expect("an id").to_owned();
        answer(&hub, &id, "yes").await;
        let ran = match again {
            "resume" => shell.run(&["resume", "gavonel"], ""),
            _ => shell.run(&["cue", "gavonel", "-"], envelope("Ship it?")),
        };
        assert_eq!(ran.ok(), answered("yes"), "{again}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_invalid_setting_is_named_and_the_rest_applies() {
    let hub = Hub::start().await;
    let shell = AgentShell::with_hub(&hub);
    let file = json!({
        "cueme.max_wait": 9, "cueme.reminder": 3, "cueme.langauge": "de", "cueme.language": "de",
        "cueme.proto.runtime": {}, "other.tool": 1,
    });
    std::fs::create_dir(hub.scratch().home().join(".cue")).expect("a directory");
    std::fs::write(hub.scratch().home().join(".cue/cueme.json"), file.to_string()).expect("settings");
    let ran = shell
        .clone()
        .without("CUEME_REMINDER")
        .run(&["cue", "gavonel", "-", "--max-wait", "5s"], envelope("Ship?"));
    for warning in [
        "cueme.max_wait in",
        "is 9: write a text",
        "cueme.reminder in",
        "cueme.langauge in",
    ] {
        assert_eq!(ran.stderr.matches(warning).count(), 1, "{warning}: {}", ran.stderr);
    }
    assert_eq!(ran.stderr.lines().count(), 3, "{}", ran.stderr);
    assert!(ran.ok().starts_with("Noch keine Antwort."));
}

#[test]
fn start_hub_false_in_the_settings_file_starts_no_hub() {
    for value in [json!(false), json!("no")] {
        let machine = super::fresh_machine::FreshMachine::new();
        std::fs::create_dir(machine.home().join(".cue")).expect("a directory");
        std::fs::write(
            machine.home().join(".cue/cueme.json"),
            json!({"cueme.start_hub": value}).to_string(),
        )
        .expect("settings");
        let stderr = machine.shell().run(&["join", "codex"], "").fails(1);
        assert!(stderr.contains("no hub is running"), "{stderr}");
        assert!(!machine.data().join("hub.json").exists());
    }
}

/// The exit code and JSON output for this payload and resolution.
async fn outcome(hub: &Hub, payload: Value, resolution: Value) -> (i32, Value) {
    let shell = AgentShell::with_hub(hub);
    let input = envelope_with("What now?", &payload);
    let process = shell.start(&["cue", "gavonel", "-", "--json"], &input);
    let id = wait_for_request(hub, "What now?").await;
    hub.owner.resolve(&id, resolution).await.expect(200);
    let ran = process.finish();
    assert_eq!(ran.stdout.lines().count(), 1, "{ran:?}");
    let output: Value = serde_json::from_str(&ran.stdout).expect("JSON");
    assert_eq!((&output["id"], &output["agent_id"]), (&json!(id), &json!("gavonel")));
    (ran.code, output)
}

#[tokio::test(flavor = "multi_thread")]
async fn json_output_is_one_line_with_an_exit_code_per_outcome() {
    let hub = Hub::start().await;
    let confirm = json!({"type": "confirm", "confirm_label": "Ship", "cancel_label": "Hold"});
    let choice = json!({"type": "choice", "options": ["a", "b"], "allow_multiple": true});
    let answered = |value: Value| json!({"resolution": "answered", "value": value, "comment": "soon"});
    for (payload, resolution, code, status, text) in [
        (Value::Null, answered(json!("go on")), 0, "answered", json!("go on")),
        (choice, answered(json!(["b", "a"])), 0, "answered", json!("b\na")),
        (
            confirm.clone(),
            answered(json!("approve")),
            0,
            "answered",
            json!("Ship"),
        ),
        (confirm.clone(), answered(json!("deny")), 10, "answered", json!("Hold")),
        (
            confirm.clone(),
            answered(json!("yes, but on Monday")),
            10,
            "answered",
            json!("yes, but on Monday"),
        ),
        (
            confirm,
            json!({"resolution": "declined", "comment": "soon"}),
            11,
            "declined",
            Value::Null,
        ),
    ] {
        let value = resolution["value"].clone();
        let (number, output) = outcome(&hub, payload, resolution).await;
        assert_eq!(
            (number, &output["status"], &output["text"]),
            (code, &json!(status), &text),
            "{output}"
        );
        assert_eq!(
            (&output["value"], &output["comment"], &output["kind"]),
            (&value, &json!("soon"), &json!("cue"))
        );
        assert_eq!(output["actor"], "human:owner");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_denied_confirm_keeps_its_exit_code_when_collected_later() {
    let hub = Hub::start().await;
    let shell = AgentShell::with_hub(&hub);
    let input = envelope_with("Ship it?", &json!({"type": "confirm"}));
    let ran = shell.run(&["cue", "gavonel", "-", "--json", "--max-wait", "5s"], &input);
    let output: Value = serde_json::from_str(&ran.stdout).expect("JSON");
    assert_eq!((ran.code, &output["status"]), (14, &json!("open")), "{output}");
    assert_eq!(output["resume"], "cueme resume gavonel");
    answer(&hub, output["id"].as_str().expect("an id"), "deny").await;
    let ran = shell.run(&["resume", "gavonel", "--json"], "");
    assert_eq!(ran.code, 10, "{ran:?}");
    let process = shell.start(&["pause", "gavonel", "Back soon", "--json"], "");
    answer(&hub, &wait_for_request(&hub, "Back soon").await, "not yet").await;
    let output = process.finish().json();
    assert_eq!(
        (&output["kind"], &output["text"]),
        (&json!("pause"), &json!("not yet")),
        "a pause has no confirm"
    );
}
