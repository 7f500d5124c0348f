//! What a person decides, as the agent reads it.

use serde_json::{Value, json};

use super::{Desk, answer, answered, envelope, item, offering, waited_for};
use crate::harness::*;

/// Asks with this payload, is answered with this value, and returns what both streams said.
async fn said(hub: &Hub, payload: &Value, value: Value) -> (String, String) {
    let desk = Desk::beside(hub);
    let process = desk.start(&["cue", "gavonel", "-"], offering("What now?", payload));
    let id = waited_for(hub, "What now?").await;
    answer(hub, &id, value).await;
    let ran = process.finish();
    assert_eq!(ran.code, 0, "{ran:?}");
    (ran.stdout, ran.stderr)
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_picked_comes_back_in_its_own_words() {
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
            said(&hub, payload, value).await,
            (answered(text), String::new()),
            "{payload}"
        );
    }
    for payload in [&one, &many, &own, &form] {
        assert_eq!(
            said(&hub, payload, json!("neither: ask Bob")).await.0,
            answered("neither: ask Bob"),
            "{payload}"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_payload_nobody_knows_is_answered_freely_and_warned_of() {
    let hub = Hub::start().await;
    for (payload, why) in [
        (json!({"type": "poll"}), "poll"),
        (json!({}), "type is missing"),
        (json!({"type": "choice"}), "options"),
    ] {
        let (stdout, stderr) = said(&hub, &payload, json!("as you like")).await;
        assert_eq!(stdout, answered("as you like"));
        assert!(
            stderr.starts_with("cueme: warning: ") && stderr.contains(why),
            "{stderr}"
        );
        assert_eq!(stderr.lines().count(), 1, "{stderr}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_is_passed_on_untouched() {
    let hub = Hub::start().await;
    let desk = Desk::beside(&hub);
    let text = "use {id} & <b>\"x\"</b>\n\n\tтак \u{1f600} \\n";
    let (process, id) = desk.waiting(&hub, "gavonel", "Markup?").await;
    let body = json!({"resolution": "answered", "value": text, "comment": "soon, please"});
    hub.owner.resolve(&id, body).await.expect(200);
    assert_eq!(
        process.finish().ok(),
        format!("The user answered:\n\n{text}\n\nComment: soon, please\n")
    );
    assert!(
        item(&hub, &id).await["fetched_at"].is_string(),
        "the hub knows that it arrived"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_decline_carries_its_reason() {
    let hub = Hub::start().await;
    let desk = Desk::beside(&hub);
    for (comment, printed) in [
        (Some("not today"), "The user declined.\n\nReason: not today\n"),
        (None, "The user declined.\n"),
    ] {
        let (process, id) = desk.waiting(&hub, "gavonel", "Drop the table?").await;
        let mut body = json!({"resolution": "declined"});
        if let Some(comment) = comment {
            body["comment"] = comment.into();
        }
        hub.owner.resolve(&id, body).await.expect(200);
        assert_eq!(process.finish().ok(), printed);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_words_around_an_answer_are_the_persons_choice() {
    let hub = Hub::start().await;
    let desk = Desk::beside(&hub);
    let reminded = desk.clone().without("CUEME_REMINDER");
    let settings = hub.scratch().home().join(".cue");
    std::fs::create_dir(&settings).expect("a directory");
    let told = async |desk: &Desk| {
        let process = desk.start(&["cue", "gavonel", "-"], envelope("Ship?"));
        answer(&hub, &waited_for(&hub, "Ship?").await, "yes").await;
        process.finish().ok()
    };
    let ours = told(&reminded).await;
    assert!(
        ours.starts_with(&answered("yes")) && ours.ends_with("run `cueme cue gavonel -` again.\n"),
        "{ours}"
    );
    assert_eq!(
        told(&desk.clone().env("CUEME_LANGUAGE", "de")).await,
        "Die Antwort des Nutzers:\n\nyes\n"
    );
    let file = json!({"cueme.language": "zh", "cueme.reminder": "Ask {id} first."});
    std::fs::write(settings.join("cueme.json"), file.to_string()).expect("settings");
    assert_eq!(told(&reminded).await, "用户答复：\n\nyes\n\nAsk gavonel first.\n");
    std::fs::write(settings.join("cueme.json"), "{").expect("settings");
    assert_eq!(
        told(&desk).await,
        answered("yes"),
        "a broken file keeps nobody from asking"
    );
}
