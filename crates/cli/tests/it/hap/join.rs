use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::{TerminalAgent, item};
use crate::harness::*;

#[tokio::test(flavor = "multi_thread")]
async fn every_agent_gets_a_unique_pronounceable_name() {
    let hub = Hub::start().await;
    let shell = TerminalAgent::join(&hub).await;
    let mut names = BTreeSet::from([shell.agent_id.clone()]);
    for _ in 0..20 {
        let joined = shell
            .api
            .post("/v1/hap/join", &json!({"runtime": "codex"}))
            .await
            .expect(201);
        let name = joined["agent_id"].as_str().expect("a name").to_owned();
        assert!(
            (8..=12).contains(&name.len()) && name.bytes().all(|byte| byte.is_ascii_lowercase()),
            "{name}"
        );
        assert_eq!(
            (&joined["runtime"], &joined["terminal"]),
            (&json!("codex"), &json!("unknown"))
        );
        assert!(names.insert(name), "names are unique");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_person_sees_where_the_agent_runs() {
    let hub = Hub::start().await;
    let shell = TerminalAgent::join(&hub).await;
    let id = shell.ask_for_id("Ship it?").await;
    let shown = item(&hub, &id).await;
    let source = &shown["source"];
    let location = [
        &source["door"],
        &source["cue"],
        &source["runtime"],
        &source["project_dir"],
        &source["terminal"],
    ];
    assert_eq!(
        location,
        ["hap", "cue", "claude_code", "/home/ann/shop", "zsh"]
            .map(|word| json!(word))
            .each_ref()
    );
    assert_eq!(shown["agent"]["project"], "shop");
    let listed = hub.owner.get("/v1/terminals").await.expect(200);
    let terminal = &listed["terminals"][0];
    assert_eq!(
        (&terminal["agent_id"], &terminal["person"]),
        (&json!(shell.agent_id), &json!("owner"))
    );
    assert_eq!((&terminal["open"], &terminal["last_cue_id"]), (&json!(1), &json!(id)));
    let agents = hub.owner.get("/v1/admin/agents").await.expect(200);
    assert!(
        !agents.to_string().contains(&shell.agent_id),
        "terminal agents are not listed as registered agents: {agents}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn hub_json_has_a_token_for_terminals_and_the_link_to_sign_in() {
    let hub = Hub::start().await;
    let text = std::fs::read_to_string(hub.data().join("hub.json")).expect("hub.json");
    let found: Value = serde_json::from_str(&text).expect("JSON");
    let token = found["terminal_token"].as_str().expect("a token");
    assert!(token.starts_with("cst_"), "{token}");
    hub.anonymous()
        .bearer(token)
        .post("/v1/hap/join", &json!({}))
        .await
        .expect(201);
    let link = found["sign_in_url"].as_str().expect("a link");
    assert!(hub.process().output().contains(link), "the printed link: {link}");
    assert_eq!(hub.anonymous().get(link).await.status, 200);
}
