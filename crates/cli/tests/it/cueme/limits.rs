//! A caller with a limit of its own, and a program that reads the outcome.

use serde_json::{Value, json};

use super::{Desk, answer, answered, envelope, items, offering, waited_for};
use crate::harness::*;

#[tokio::test(flavor = "multi_thread")]
async fn near_the_callers_limit_it_ends_with_how_to_go_on() {
    let hub = Hub::start().await;
    let desk = Desk::beside(&hub);
    let text = desk
        .run(&["cue", "gavonel", "-", "--max-wait", "1s"], envelope("Ship it?"))
        .ok();
    assert!(
        text.starts_with("No answer yet.") && text.contains("`cueme resume gavonel`"),
        "{text}"
    );
    assert_eq!(text.lines().count(), 1, "{text}");
    let by_variable = desk
        .clone()
        .env("CUEME_MAX_WAIT", "1s")
        .run(&["resume", "gavonel"], "")
        .ok();
    assert_eq!(by_variable, text);
    let process = desk.start(&["resume", "gavonel"], "");
    let id = waited_for(&hub, "Ship it?").await;
    assert_eq!(items(&hub).await.len(), 1, "one request all the time");
    answer(&hub, &id, "yes").await;
    let ran = process.finish();
    assert_eq!(
        (ran.stdout.as_str(), ran.stderr.as_str()),
        (answered("yes").as_str(), "")
    );
    let said = desk.run(&["resume", "gavonel"], "").fails(1);
    assert!(said.contains("no answer to collect"), "{said}");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_that_came_meanwhile_is_collected_by_resume_or_by_the_same_words() {
    let hub = Hub::start().await;
    let desk = Desk::beside(&hub);
    for again in ["resume", "cue"] {
        desk.run(&["cue", "gavonel", "-", "--max-wait", "1s"], envelope("Ship it?"))
            .ok();
        let id = items(&hub).await[0]["id"].as_str().expect("an id").to_owned();
        answer(&hub, &id, "yes").await;
        let ran = match again {
            "resume" => desk.run(&["resume", "gavonel"], ""),
            _ => desk.run(&["cue", "gavonel", "-"], envelope("Ship it?")),
        };
        assert_eq!(ran.ok(), answered("yes"), "{again}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_setting_that_is_none_is_named_and_the_rest_counts() {
    let hub = Hub::start().await;
    let desk = Desk::beside(&hub);
    let file = json!({
        "cueme.max_wait": 9, "cueme.reminder": 3, "cueme.langauge": "de", "cueme.language": "de",
        "cueme.proto.runtime": {}, "somebody.elses": 1,
    });
    std::fs::create_dir(hub.scratch().home().join(".cue")).expect("a directory");
    std::fs::write(hub.scratch().home().join(".cue/cueme.json"), file.to_string()).expect("settings");
    let ran = desk
        .clone()
        .without("CUEME_REMINDER")
        .run(&["cue", "gavonel", "-", "--max-wait", "1s"], envelope("Ship?"));
    for words in [
        "cueme.max_wait in",
        "is 9: write a text",
        "cueme.reminder in",
        "cueme.langauge in",
    ] {
        assert_eq!(ran.stderr.matches(words).count(), 1, "{words}: {}", ran.stderr);
    }
    assert_eq!(ran.stderr.lines().count(), 3, "{}", ran.stderr);
    assert!(ran.ok().starts_with("Noch keine Antwort."));
}

#[test]
fn a_hub_is_not_started_where_the_file_says_so() {
    for word in [json!(false), json!("no")] {
        let fresh = super::fresh::Fresh::new();
        std::fs::create_dir(fresh.home().join(".cue")).expect("a directory");
        std::fs::write(
            fresh.home().join(".cue/cueme.json"),
            json!({"cueme.start_hub": word}).to_string(),
        )
        .expect("settings");
        let said = fresh.desk().run(&["join", "codex"], "").fails(1);
        assert!(said.contains("no hub is running"), "{said}");
        assert!(!fresh.data().join("hub.json").exists());
    }
}

/// What a program gets for this payload when the person decides so.
async fn outcome(hub: &Hub, payload: Value, resolution: Value) -> (i32, Value) {
    let desk = Desk::beside(hub);
    let input = offering("What now?", &payload);
    let process = desk.start(&["cue", "gavonel", "-", "--json"], &input);
    let id = waited_for(hub, "What now?").await;
    hub.owner.resolve(&id, resolution).await.expect(200);
    let ran = process.finish();
    assert_eq!(ran.stdout.lines().count(), 1, "{ran:?}");
    let told: Value = serde_json::from_str(&ran.stdout).expect("JSON");
    assert_eq!((&told["id"], &told["agent_id"]), (&json!(id), &json!("gavonel")));
    (ran.code, told)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_program_gets_one_line_and_a_code_for_every_outcome() {
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
        let (number, told) = outcome(&hub, payload, resolution).await;
        assert_eq!(
            (number, &told["status"], &told["text"]),
            (code, &json!(status), &text),
            "{told}"
        );
        assert_eq!(
            (&told["value"], &told["comment"], &told["kind"]),
            (&value, &json!("soon"), &json!("cue"))
        );
        assert_eq!(told["actor"], "human:owner");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_no_stays_a_no_when_it_is_collected_later() {
    let hub = Hub::start().await;
    let desk = Desk::beside(&hub);
    let input = offering("Ship it?", &json!({"type": "confirm"}));
    let ran = desk.run(&["cue", "gavonel", "-", "--json", "--max-wait", "1s"], &input);
    let told: Value = serde_json::from_str(&ran.stdout).expect("JSON");
    assert_eq!((ran.code, &told["status"]), (14, &json!("open")), "{told}");
    assert_eq!(told["resume"], "cueme resume gavonel");
    answer(&hub, told["id"].as_str().expect("an id"), "deny").await;
    let ran = desk.run(&["resume", "gavonel", "--json"], "");
    assert_eq!(ran.code, 10, "{ran:?}");
    let process = desk.start(&["pause", "gavonel", "Back soon", "--json"], "");
    answer(&hub, &waited_for(&hub, "Back soon").await, "not yet").await;
    let told = process.finish().json();
    assert_eq!(
        (&told["kind"], &told["text"]),
        (&json!("pause"), &json!("not yet")),
        "a pause asks nothing"
    );
}
