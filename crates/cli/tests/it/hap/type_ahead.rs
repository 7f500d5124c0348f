use serde_json::json;

use super::{TerminalAgent, id};
use crate::harness::*;

async fn type_ahead(hub: &Hub, shell: &TerminalAgent, text: &str) -> i64 {
    let path = format!("/v1/terminals/{}/ahead", shell.agent_id);
    hub.owner.post(&path, &json!({ "text": text })).await.expect(201)["id"]
        .as_i64()
        .expect("a number")
}

#[tokio::test(flavor = "multi_thread")]
async fn type_ahead_answers_the_next_cues_in_order() {
    let hub = Hub::start().await;
    let shell = TerminalAgent::join(&hub).await;
    type_ahead(&hub, &shell, "first").await;
    type_ahead(&hub, &shell, "second").await;
    for text in ["first", "second"] {
        let ack = shell.ask(&format!("Before {text}?")).await;
        assert_eq!(ack["status"], "answered", "{ack}");
        let cue = shell.outcome(&id(&ack)).await;
        assert_eq!(
            (&cue["reply"]["text"], &cue["actor"]),
            (&json!(text), &json!("human:owner"))
        );
        assert_eq!(cue["reply"]["comment"], "Written before this question was asked.");
    }
    assert_eq!(shell.ask("And now?").await["status"], "open");
}

#[tokio::test(flavor = "multi_thread")]
async fn reattaching_to_an_open_cue_uses_no_type_ahead() {
    let hub = Hub::start().await;
    let shell = TerminalAgent::join(&hub).await;
    let open = shell.ask_for_id("One?").await;
    type_ahead(&hub, &shell, "for the next").await;
    let back = shell.ask_again("One?").await;
    assert_eq!((id(&back), &back["status"]), (open, &json!("open")));
    assert_eq!(shell.ask("Two?").await["status"], "answered");
}

#[tokio::test(flavor = "multi_thread")]
async fn type_ahead_can_be_dropped_and_only_the_agents_person_may_type() {
    let hub = Hub::start().await;
    let shell = TerminalAgent::join(&hub).await;
    let alice = hub.person("alice", "resolver").await;
    let path = format!("/v1/terminals/{}/ahead", shell.agent_id);
    alice
        .post(&path, &json!({"text": "as you like"}))
        .await
        .refused("not_authorized");
    let number = type_ahead(&hub, &shell, "wait").await;
    alice.get(&path).await.refused("not_authorized");
    let listed = hub.owner.get(&path).await.expect(200);
    assert_eq!(
        (&listed["ahead"][0]["text"], &listed["ahead"][0]["id"]),
        (&json!("wait"), &json!(number))
    );
    alice
        .post_bytes(&format!("{path}/{number}/drop"), "")
        .await
        .refused("not_found");
    assert_eq!(
        hub.owner.post_bytes(&format!("{path}/{number}/drop"), "").await.status,
        204
    );
    hub.owner
        .post_bytes(&format!("{path}/{number}/drop"), "")
        .await
        .refused("not_found");
    assert_eq!(shell.ask("One?").await["status"], "open");
    let bot = hub.agent("bot").await;
    let path = format!("/v1/terminals/{}/ahead", bot.id);
    hub.owner
        .post(&path, &json!({"text": "no terminal"}))
        .await
        .refused("not_found");
}

#[tokio::test(flavor = "multi_thread")]
async fn type_ahead_never_confirms_a_confirm() {
    let hub = Hub::start().await;
    let shell = TerminalAgent::join(&hub).await;
    type_ahead(&hub, &shell, "approve").await;
    let mut question = shell.cue_body("Drop the production database?");
    question["payload"] = json!({"type": "confirm", "confirm_label": "Drop it", "cancel_label": "Keep it"});
    let ack = shell.post(&question).await.expect(201);
    let cue = shell.outcome(&id(&ack)).await;
    assert_eq!(
        (&cue["confirmed"], &cue["reply"]["text"]),
        (&json!(false), &json!("approve")),
        "{cue}"
    );
    let shown = hub.cli(&["show", &id(&ack)]).ok();
    assert!(shown.contains("in other words than the options"), "{shown}");
}
