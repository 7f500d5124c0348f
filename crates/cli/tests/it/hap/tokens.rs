use serde_json::{Value, json};

use super::{TerminalAgent, terminal_token};
use crate::harness::*;

fn refusal_text(reply: &Reply) -> String {
    reply.refused("not_authorized")["error"]["message"]
        .as_str()
        .unwrap_or_default()
        .to_owned()
}

#[tokio::test(flavor = "multi_thread")]
async fn only_a_terminal_token_is_accepted_and_the_refusal_names_the_command() {
    let hub = Hub::start().await;
    let bot = hub.agent("bot").await;
    for caller in [&hub.owner, &Api::clone(&bot)] {
        let refused = refusal_text(&caller.post("/v1/hap/join", &json!({})).await);
        assert!(
            refused.contains("countersign person token NAME --terminal"),
            "{refused}"
        );
    }
    hub.anonymous()
        .post("/v1/hap/join", &json!({}))
        .await
        .refused("unauthenticated");
    hub.anonymous()
        .bearer("cst_nonsense")
        .post("/v1/hap/join", &json!({}))
        .await
        .refused("unauthenticated");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_terminal_token_cannot_answer_list_or_administer() {
    let hub = Hub::start().await;
    let shell = TerminalAgent::join(&hub).await;
    let id = shell.ask_for_id("May I?").await;
    let refused = refusal_text(&shell.api.answer(&id, "yes").await);
    assert!(refused.contains("/v1/hap only"), "{refused}");
    for path in [
        "/v1/inbox",
        "/v1/messages",
        "/v1/terminals",
        "/v1/admin/people",
        &format!("/v1/inbox/{id}/prompt"),
    ] {
        refusal_text(&shell.api.get(path).await);
    }
    refusal_text(&shell.api.submit(&ask(&shell.agent_id)).await);
    refusal_text(&shell.api.cancel(&id).await);
    refusal_text(
        &shell
            .api
            .post(
                &format!("/v1/terminals/{}/ahead", shell.agent_id),
                &json!({"text": "yes"}),
            )
            .await,
    );
    assert_eq!(shell.get_cue(&id).await["status"], "open");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_cli_makes_terminal_tokens_only_for_people_who_may_answer() {
    let hub = Hub::start().await;
    hub.person("alice", "resolver").await;
    hub.person("vic", "viewer").await;
    let made = hub.cli(&["person", "token", "alice", "--terminal", "--json"]).json();
    let token = made["token"].as_str().expect("a token");
    assert!(token.starts_with("cst_"), "{token}");
    hub.anonymous()
        .bearer(token)
        .post("/v1/hap/join", &json!({}))
        .await
        .expect(201);
    assert!(
        hub.cli(&["person", "token", "alice", "--terminal"])
            .ok()
            .contains("token for terminals")
    );
    assert!(
        hub.cli(&["person", "token", "vic", "--terminal"])
            .fails(1)
            .contains("viewer")
    );
    assert!(hub.cli(&["person", "token", "alice", "--json"]).ok().contains("csp_"));
}

#[tokio::test(flavor = "multi_thread")]
async fn cues_of_one_person_are_hidden_from_terminals_of_another() {
    let hub = Hub::start().await;
    hub.person("alice", "resolver").await;
    let mine = TerminalAgent::join(&hub).await;
    let other = TerminalAgent::join_as(&hub, "alice").await;
    let id = mine.ask_for_id("Ship it?").await;
    other
        .post(&mine.cue_body("Ship it?"))
        .await
        .refused_field("invalid_field", "agent_id");
    for path in [format!("/v1/hap/cues/{id}"), format!("/v1/hap/cues/{id}/files/0")] {
        other.api.get(&path).await.refused("not_found");
    }
    other
        .api
        .get(&format!("/v1/hap/agents/{}/current", mine.agent_id))
        .await
        .refused("not_found");
    other
        .api
        .post_bytes(&format!("/v1/hap/cues/{id}/collected"), "")
        .await
        .refused("not_found");
    let bot = hub.agent("bot").await;
    let mut as_bot = mine.cue_body("Ship it?");
    as_bot["agent_id"] = json!(bot.id);
    mine.post(&as_bot).await.refused_field("invalid_field", "agent_id");
    let a2h = bot.accepted(&ask("bot")).await;
    mine.api.get(&format!("/v1/hap/cues/{a2h}")).await.refused("not_found");
}

#[tokio::test(flavor = "multi_thread")]
async fn removing_a_person_revokes_their_terminal_tokens() {
    let hub = Hub::start().await;
    hub.person("alice", "resolver").await;
    let shell = TerminalAgent::join_as(&hub, "alice").await;
    shell.ask("Are you there?").await;
    hub.owner
        .post("/v1/admin/people/remove", &json!({"name": "alice"}))
        .await
        .expect(200);
    shell
        .post(&shell.cue_body("Are you there?"))
        .await
        .refused("unauthenticated");
    hub.cli(&["person", "add", "alice", "--reuse"]).ok();
    let namesake = hub.anonymous().bearer(&terminal_token(&hub, "alice").await);
    let body = shell.cue_body("Are you there?");
    namesake
        .post("/v1/hap/cues", &body)
        .await
        .refused_field("invalid_field", "agent_id");
}

/// The labels and ids of a person's terminal tokens.
fn tokens_of(hub: &Hub, person: &str) -> Vec<(String, String)> {
    let listed = hub.cli(&["person", "tokens", person, "--json"]).json();
    let tokens = listed
        .as_array()
        .expect("tokens")
        .iter()
        .filter(|token| token["kind"] == "terminal");
    let text = |token: &Value, field: &str| token[field].as_str().expect("a text").to_owned();
    tokens.map(|token| (text(token, "label"), text(token, "id"))).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn an_owner_can_list_terminal_tokens_and_revoke_one() {
    let hub = Hub::start().await;
    hub.person("alice", "resolver").await;
    let make = |label: &str| {
        let made = hub
            .cli(&["person", "token", "alice", "--terminal", "--label", label, "--json"])
            .json();
        assert_eq!(made["label"], label);
        hub.anonymous().bearer(made["token"].as_str().expect("a token"))
    };
    let container = make("the container");
    let laptop = make("the laptop");
    let shown = hub.cli(&["person", "tokens", "alice"]).ok();
    assert!(
        shown.contains("the container") && shown.contains("terminals") && !shown.contains("cst_"),
        "{shown}"
    );
    let tokens = tokens_of(&hub, "alice");
    let (_, id) = tokens
        .iter()
        .find(|(label, _)| label == "the container")
        .expect("the token in the list");
    assert!(
        hub.cli(&["person", "token-end", "alice", id])
            .ok()
            .contains("has ended")
    );
    container
        .post("/v1/hap/join", &json!({}))
        .await
        .refused("unauthenticated");
    laptop.post("/v1/hap/join", &json!({})).await.expect(201);
    hub.cli(&["person", "token-end", "alice", id]).fails(1);
    hub.cli(&["person", "token-end", "owner", &tokens[0].1]).fails(1);
    hub.cli(&["person", "tokens", "nobody"]).fails(1);
    hub.cli(&["person", "token", "alice", "--terminal", "--label", "start"])
        .fails(1);
    let trail = hub
        .owner
        .get("/v1/admin/audit?id=human:alice")
        .await
        .expect(200)
        .to_string();
    assert!(trail.contains("person.terminal_token_ended"), "{trail}");
    hub.cli(&["person", "token", "alice", "--terminal"]).ok();
    assert!(
        tokens_of(&hub, "alice")
            .iter()
            .any(|(label, _)| label.starts_with("terminal 20")),
        "the default label has a date"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_revoked_token_ends_its_long_polls_at_once() {
    let hub = Hub::start().await;
    hub.person("alice", "resolver").await;
    let shell = TerminalAgent::join_as(&hub, "alice").await;
    let other = TerminalAgent::join(&hub).await;
    let id = shell.ask_for_id("May I?").await;
    let other_id = other.ask_for_id("May I?").await;
    let process = shell.waiting(&hub, &id).await;
    let stays = other.waiting(&hub, &other_id).await;
    hub.cli(&["person", "token-end", "alice", &tokens_of(&hub, "alice")[0].1])
        .ok();
    within("the wait ends", process)
        .await
        .expect("a reply")
        .refused("unauthenticated");
    hub.owner.answer(&other_id, "yes").await.expect(200);
    assert_eq!(
        within("the other long-poll", stays).await.expect("a reply").expect(200)["status"],
        "answered"
    );
}
