use rusqlite::Connection;
use serde_json::{Value, json};
use tokio::task::JoinSet;

use super::{TerminalAgent, id, terminal_token};
use crate::harness::*;

#[tokio::test(flavor = "multi_thread")]
async fn open_cues_per_person_are_limited_to_a_thousand() {
    let hub = Hub::start().await;
    let shell = TerminalAgent::join(&hub).await;
    let cue_as = |name: &str, number: usize| {
        let mut body = shell.cue_body(&format!("Number {number}?"));
        body["agent_id"] = json!(name);
        body
    };
    let mut first = Value::Null;
    // One cue per agent, because a new cue supersedes an earlier one of the same agent.
    for number in 0..1000 {
        first = shell.post(&cue_as(&format!("agent{number}"), number)).await.expect(201);
    }
    let refused = shell.post(&cue_as("another", 1000)).await;
    let error = refused.refused("rate_limited");
    assert!(
        error["error"]["message"]
            .as_str()
            .is_some_and(|text| text.contains("1000 cues")),
        "{error}"
    );
    assert!(
        refused
            .header("retry-after")
            .parse::<u32>()
            .is_ok_and(|seconds| seconds > 0)
    );
    let old = json!({
        "request_id": "req_1", "agent_id": "agent0", "kind": "cue", "prompt": "Old?", "payload": null,
        "created_at": from_now(-60_000), "resolution": null,
    });
    shell.api.post("/v1/hap/import", &old).await.refused("rate_limited");
    hub.owner.answer(&id(&first), "yes").await.expect(200);
    shell.api.post("/v1/hap/import", &old).await.expect(200);
    shell.post(&cue_as("another", 1001)).await.refused("rate_limited");
}

#[tokio::test(flavor = "multi_thread")]
async fn joined_agents_per_person_are_limited() {
    const FILL: &str = "WITH RECURSIVE number (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM number WHERE n < 10000) \
        INSERT INTO terminal (agent_id, person, runtime, project_dir, terminal, joined_at) \
        SELECT 'agent' || n, 'owner', 'codex', '', 'zsh', CAST(strftime('%s') AS INTEGER) * 1000 FROM number";
    let mut hub = Hub::start().await;
    hub.person("alice", "resolver").await;
    let own = terminal_token(&hub, "owner").await;
    let hers = terminal_token(&hub, "alice").await;
    hub.interrupt();
    let database = Connection::open(hub.data().join("hub.db")).expect("the database");
    assert_eq!(database.execute(FILL, []).expect("joined"), 10_000);
    drop(database);
    hub.restart().await;
    let join = async |token: &str| hub.anonymous().bearer(token).post("/v1/hap/join", &json!({})).await;
    let error = join(&own).await.refused("rate_limited");
    assert!(
        error["error"]["message"]
            .as_str()
            .is_some_and(|text| text.contains("agent remove")),
        "{error}"
    );
    join(&hers).await.expect(201);
}

#[tokio::test(flavor = "multi_thread")]
async fn waiting_terminals_per_person_are_limited_to_a_thousand() {
    let hub = Hub::start().await;
    hub.person("alice", "resolver").await;
    let shell = TerminalAgent::join(&hub).await;
    let other = TerminalAgent::join_as(&hub, "alice").await;
    let id = shell.ask_for_id("Ready?").await;
    let token = terminal_token(&hub, "owner").await;
    let http = http_client().http2_prior_knowledge().build().expect("an HTTP client");
    let url = format!("{}/v1/hap/cues/{id}?wait=60", hub.url);
    let mut waits = JoinSet::new();
    for _ in 0..=1000 {
        waits.spawn(http.get(&url).bearer_auth(&token).send());
    }
    let refused = within("one too many", waits.join_next())
        .await
        .expect("it waited")
        .expect("sent");
    assert_eq!(refused.expect("a reply").status(), 429);
    let asked = other.ask_for_id("Ready?").await;
    let process = other.waiting(&hub, &asked).await;
    hub.owner.answer(&id, "here").await.expect(200);
    while let Some(wait) = within("the answer", waits.join_next()).await {
        assert_eq!(wait.expect("it waited").expect("a reply").status(), 200);
    }
    process.abort();
    shell.outcome(&id).await;
}
