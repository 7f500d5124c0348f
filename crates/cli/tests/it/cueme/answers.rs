//! Answers as `cueme` prints them for the agent.

use serde_json::{Value, json};

use super::{AgentShell, answer, answered, envelope, envelope_with, item, wait_for_request};
use crate::harness::*;

/// Asks with this payload, answers with this value, and returns stdout and stderr.
async fn ask_and_answer(hub: &Hub, payload: &Value, value: Value) -> (String, String) {
    let shell = AgentShell::with_hub(hub);
    let process = shell.start(&["cue", "gavonel", "-"], envelope_with("What now?", payload));
    let id = wait_for_request(hub, "What now?").await;
    answer(hub, &id, value).await;
    let ran = process.finish();
    assert_eq!(ran.code, 0, "{ran:?}");
    (ran.stdout, ran.stderr)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_picked_option_comes_back_with_its_label() {
    let hub = Hub::start().await;
    let colours = json!(["Blue", {"id": "g", "label": "Green"}, "Red"]);
    let one = json!({"type": "choice", "options": colours});
    let many = json!({"type": "choice", "options": colours, "allow_multiple": true});
    let own = json!({"type": "confirm", "text": "Ship it?", "confirm_label": "Ship", "cancel_label": "Hold"});
    let bare = json!({"type": "confirm"});
    let form = json!({"type": "form", "fields": [
        {"label": "Zone", "options": ["eu", "us"], "allow_multiple": true},
        {"label": "Size", "options": ["small", "large"]},
        {"label": "Why", "kind": "textarea"},
    ]});
    for (payload, value, text) in [
        (&one, json!("Green"), "Green"),
        (&many, json!(["Red", "Blue"]), "Red\nBlue"),
        (&own, json!("approve"), "Ship"),
        (&own, json!("deny"), "Hold"),
        (&bare, json!("approve"), "Confirm"),
        (&bare, json!("deny"), "Cancel"),
        (
            &form,
            json!({"Why": "load\nand rain", "Zone": ["us", "eu"], "Size": "small"}),
            "Zone: us, eu\nSize: small\nWhy: load\n  and rain",
        ),
    ] {
        assert_eq!(
            ask_and_answer(&hub, payload, value).await,
            (answered(text), String::new()),
            "{payload}"
        );
    }
    for payload in [&one, &many, &own, &form] {
        assert_eq!(
            ask_and_answer(&hub, payload, json!("neither: ask Bob")).await.0,
            answered("neither: ask Bob"),
            "{payload}"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_unknown_payload_becomes_free_text_with_a_warning() {
    let hub = Hub::start().await;
    for (payload, why) in [
        (json!({"type": "poll"}), "poll"),
        (json!({}), "type is missing"),
        (json!({"type": "choice"}), "options"),
    ] {
        let (stdout, stderr) = ask_and_answer(&hub, &payload, json!("as you like")).await;
        assert_eq!(stdout, answered("as you like"));
        assert!(
            stderr.starts_with("cueme: warning: ") && stderr.contains(why),
            "{stderr}"
        );
        assert_eq!(stderr.lines().count(), 1, "{stderr}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_is_printed_unchanged() {
    let hub = Hub::start().await;
    let shell = AgentShell::with_hub(&hub);
    let text = "use {id} & <b>\"x\"</b>\n\n\tтак \u{1f600} \\n";
    let (process, id) = shell.waiting(&hub, "gavonel", "Markup?").await;
    let body = json!({"resolution": "answered", "value": text, "comment": "soon, please"});
    hub.owner.resolve(&id, body).await.expect(200);
    assert_eq!(
        process.finish().ok(),
        format!("The user answered:\n\n{text}\n\nComment: soon, please\n")
    );
    assert!(
        item(&hub, &id).await["fetched_at"].is_string(),
        "the hub marks it fetched"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_decline_carries_its_reason() {
    let hub = Hub::start().await;
    let shell = AgentShell::with_hub(&hub);
    for (comment, printed) in [
        (Some("not today"), "The user declined.\n\nReason: not today\n"),
        (None, "The user declined.\n"),
    ] {
        let (process, id) = shell.waiting(&hub, "gavonel", "Drop the table?").await;
        let mut body = json!({"resolution": "declined"});
        if let Some(comment) = comment {
            body["comment"] = comment.into();
        }
        hub.owner.resolve(&id, body).await.expect(200);
        assert_eq!(process.finish().ok(), printed);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn language_and_reminder_are_configurable() {
    let hub = Hub::start().await;
    let shell = AgentShell::with_hub(&hub);
    let reminded = shell.clone().without("CUEME_REMINDER");
    let settings = hub.scratch().home().join(".cue");
    std::fs::create_dir(&settings).expect("a directory");
    let output = async |shell: &AgentShell| {
        let process = shell.start(&["cue", "gavonel", "-"], envelope("Ship?"));
        answer(&hub, &wait_for_request(&hub, "Ship?").await, "yes").await;
        process.finish().ok()
    };
    let default_output = output(&reminded).await;
    assert!(
        default_output.starts_with(&answered("yes")) && default_output.ends_with("run `cueme cue gavonel -` again.\n"),
        "{default_output}"
    );
    assert_eq!(
        output(&shell.clone().env("CUEME_LANGUAGE", "de")).await,
        "Die Antwort des Nutzers:\n\nyes\n"
    );
    let file = json!({"cueme.language": "zh", "cueme.reminder": "Ask {id} first."});
    std::fs::write(settings.join("cueme.json"), file.to_string()).expect("settings");
    assert_eq!(output(&reminded).await, "用户答复：\n\nyes\n\nAsk gavonel first.\n");
    std::fs::write(settings.join("cueme.json"), "{").expect("settings");
    assert_eq!(
        output(&shell).await,
        answered("yes"),
        "a broken settings file does not stop the command"
    );
}
