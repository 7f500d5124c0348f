use serde_json::json;

use super::TerminalAgent;
use crate::harness::*;

#[tokio::test(flavor = "multi_thread")]
async fn a_self_chosen_name_cannot_imitate_others() {
    let hub = Hub::start().await;
    let shell = TerminalAgent::join(&hub).await;
    for name in [
        "human:owner",
        "system:imported",
        "\u{202e}gnp",
        "a\u{200b}b",
        "$(id)",
        "../../x",
        "-v",
        "é",
        &"x".repeat(65),
    ] {
        let joined = shell.api.post("/v1/hap/join", &json!({ "agent_id": name })).await;
        joined.refused_field("invalid_field", "agent_id");
        let mut body = shell.cue_body("Who am I?");
        body["agent_id"] = json!(name);
        shell.post(&body).await.refused_field("invalid_field", "agent_id");
    }
    for name in ["gavonel", "Agent-7", "a.b_c"] {
        shell
            .api
            .post("/v1/hap/join", &json!({ "agent_id": name }))
            .await
            .expect(201);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_owner_can_take_a_name_from_a_terminal() {
    let hub = Hub::start().await;
    hub.person("bob", "resolver").await;
    let bob = TerminalAgent {
        agent_id: "deploybot".to_owned(),
        ..TerminalAgent::join_as(&hub, "bob").await
    };
    let id = bob.ask_for_id("Is this name mine?").await;
    let stderr = hub.cli(&["agent", "add", "deploybot"]).fails(1);
    assert!(
        stderr.contains("terminal of human:bob") && stderr.contains("countersign agent remove deploybot"),
        "{stderr}"
    );
    let stderr = hub.cli(&["agent", "rotate", "deploybot"]).fails(1);
    assert!(
        stderr.contains("terminal of human:bob") && !stderr.contains("agent add"),
        "{stderr}"
    );
    hub.cli(&["agent", "remove", "deploybot"]).ok();
    bob.post(&bob.cue_body("And now?"))
        .await
        .refused_field("invalid_field", "agent_id");
    bob.api.get(&format!("/v1/hap/cues/{id}")).await.refused("not_found");
    hub.cli(&["agent", "add", "deploybot"]).fails(1);
    let made = hub.cli(&["agent", "add", "deploybot", "--reuse", "--json"]).json();
    let bot = hub.anonymous().bearer(made["token"].as_str().expect("a token"));
    bot.accepted(&ask("deploybot")).await;
    bob.post(&bob.cue_body("And now?"))
        .await
        .refused_field("invalid_field", "agent_id");
    hub.cli(&["agent", "rotate", "deploybot"]).ok();
}

#[tokio::test(flavor = "multi_thread")]
async fn the_audit_trail_says_for_whom_an_agent_joined() {
    let hub = Hub::start().await;
    hub.person("bob", "resolver").await;
    let shell = TerminalAgent::join_as(&hub, "bob").await;
    let trail = hub
        .owner
        .get(&format!("/v1/admin/audit?id=agent:{}", shell.agent_id))
        .await
        .expect(200);
    assert_eq!(trail["entries"][0]["event"], "agent.joined for human:bob", "{trail}");
}
