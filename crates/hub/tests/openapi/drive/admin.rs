use std::time::Duration;

use countersign_store::model::Settlement;
use countersign_store::ops::deliver::{ClaimDue, PendingHosts, Settle};
use countersign_store::ops::node::RegisterNode;
use serde_json::{Value, json};

use super::agents::{NOWHERE, submitted};
use super::envelope::ask;
use crate::call::{Call, get, post};
use crate::scene::{Scene, Seen};

pub async fn admin(seen: &Seen) {
    let scene = Scene::new(seen).await;
    agents(&scene).await;
    callbacks(&scene).await;
    secrets(&scene).await;
    people(&scene).await;
    let id = deliveries(&scene).await;
    audit(&scene, &id).await;
    keys(&scene).await;
    let status = scene.json(200, get("/v1/admin/status").by(&scene.owner)).await;
    assert!(
        status["warnings"]
            .as_array()
            .is_some_and(|warnings| !warnings.is_empty()),
        "{status}"
    );
}

fn by_owner<'a>(scene: &Scene, path: &'a str, body: &Value) -> Call<'a> {
    post(path).by(&scene.owner).json(body)
}

async fn agents(scene: &Scene) {
    const AGENTS: &str = "/v1/admin/agents";
    let call = |path, body: Value| by_owner(scene, path, &body);
    scene
        .expect(201, call(AGENTS, json!({"id": "team/new", "signature_alg": "ed25519"})))
        .await;
    scene.expect(409, call(AGENTS, json!({"id": "bot"}))).await;
    scene.expect(422, call(AGENTS, json!({"id": "two words"}))).await;
    scene
        .expect(400, call(AGENTS, json!({"id": "x", "signature_alg": "rot13"})))
        .await;
    let rename = "/v1/admin/agents/rename";
    let named = |id: &str, name: Value| call(rename, json!({"id": id, "name": name}));
    scene.expect(200, named("team/new", json!("Team · new"))).await;
    scene.expect(409, named("team/new", json!("bot"))).await;
    scene.expect(422, named("team/new", json!("a\u{202e}b"))).await;
    scene.expect(404, named("nobody", json!("x"))).await;
    let restored = scene.json(200, named("team/new", Value::Null)).await;
    assert_eq!(restored["name"], "team/new", "{restored}");
    let rotate = "/v1/admin/agents/rotate";
    scene.expect(200, call(rotate, json!({"id": "team/new"}))).await;
    scene.expect(404, call(rotate, json!({"id": "nobody"}))).await;
    scene
        .expect(422, call(rotate, json!({"id": "bot", "overlap_seconds": 7_776_001})))
        .await;
    let agents = scene.json(200, get(AGENTS).by(&scene.owner)).await;
    assert_eq!(
        agents["agents"][1]["tokens"], 2,
        "both tokens are valid during the overlap: {agents}"
    );
    let remove = "/v1/admin/agents/remove";
    scene.expect(200, call(remove, json!({"id": "team/new"}))).await;
    scene.expect(404, call(remove, json!({"id": "team/new"}))).await;
    let used = scene.json(409, call(AGENTS, json!({"id": "team/new"}))).await;
    assert_eq!(used["error"]["code"], "name_used", "{used}");
    scene
        .expect(201, call(AGENTS, json!({"id": "team/new", "reuse": true})))
        .await;
    scene.expect(200, call(remove, json!({"id": "team/new"}))).await;
}

async fn callbacks(scene: &Scene) {
    const CALLBACKS: &str = "/v1/admin/callbacks";
    const APPROVE: &str = "/v1/admin/callbacks/approve";
    const REMOVE: &str = "/v1/admin/callbacks/remove";
    let binding = |agent: &str, host: &str| json!({"agent_id": agent, "host": host});
    let call = |path, body: Value| by_owner(scene, path, &body);
    scene
        .expect(201, call(CALLBACKS, binding("bot", "hooks.example")))
        .await;
    scene.expect(200, call(APPROVE, binding("bot", "hooks.example"))).await;
    scene
        .expect(200, call(APPROVE, binding("bot", "[2606:4700::1]:8443")))
        .await;
    let again = scene.json(201, call(CALLBACKS, binding("bot", "hooks.example"))).await;
    assert_eq!(again["state"], "approved");
    for path in [CALLBACKS, APPROVE, REMOVE] {
        scene.expect(404, call(path, binding("nobody", "hooks.example"))).await;
        scene.expect(422, call(path, binding("bot", "no host"))).await;
    }
    scene
        .expect(200, call(REMOVE, binding("bot", "[2606:4700::1]:8443")))
        .await;
    for query in ["agent_id=bot", "agent_id=nobody"] {
        scene.expect(200, get(CALLBACKS).by(&scene.owner).query(query)).await;
    }
}

async fn secrets(scene: &Scene) {
    const SECRETS: &str = "/v1/admin/secrets";
    const REMOVE: &str = "/v1/admin/secrets/remove";
    let call = |path, body: Value| by_owner(scene, path, &body);
    let secret = |agent: &str, value: &str| json!({"agent_id": agent, "name": "env:HOOK", "value": value});
    scene.expect(200, call(SECRETS, secret("bot", "s3cret"))).await;
    scene.expect(404, call(SECRETS, secret("nobody", "s3cret"))).await;
    scene.expect(422, call(SECRETS, secret("bot", "two\nlines"))).await;
    let listed = scene.json(200, get(SECRETS).by(&scene.owner)).await;
    assert_eq!(listed["secrets"].as_array().map(Vec::len), Some(1));
    let name = json!({"agent_id": "bot", "name": "env:HOOK"});
    scene.expect(200, call(REMOVE, name.clone())).await;
    scene.expect(404, call(REMOVE, name)).await;
}

async fn people(scene: &Scene) {
    const PEOPLE: &str = "/v1/admin/people";
    const TOKEN: &str = "/v1/admin/people/token";
    const LINK: &str = "/v1/admin/people/link";
    const REMOVE: &str = "/v1/admin/people/remove";
    let call = |path, body: Value| by_owner(scene, path, &body);
    let added = scene.json(201, call(PEOPLE, json!({"name": "ben"}))).await;
    assert_eq!(added["role"], "resolver");
    scene
        .expect(409, call(PEOPLE, json!({"name": "ann", "role": "viewer"})))
        .await;
    scene.expect(422, call(PEOPLE, json!({"name": "two words"}))).await;
    scene
        .expect(400, call(PEOPLE, json!({"name": "carl", "role": "king"})))
        .await;
    scene.expect(200, call(TOKEN, json!({"name": "ben"}))).await;
    scene.expect(404, call(TOKEN, json!({"name": "nobody"}))).await;
    let terminal = scene
        .json(200, call(TOKEN, json!({"name": "ben", "terminal": true})))
        .await;
    assert!(
        terminal["token"]
            .as_str()
            .is_some_and(|token| token.starts_with("cst_")),
        "{terminal}"
    );
    scene
        .expect(422, call(TOKEN, json!({"name": "vic", "terminal": true})))
        .await;
    tokens(scene, &terminal["id"]).await;
    let link = scene.json(200, call(LINK, json!({"name": "ben"}))).await;
    assert!(
        link["url"]
            .as_str()
            .is_some_and(|url| url.starts_with("http://localhost:7422/signin/css_")),
        "{link}"
    );
    scene.expect(404, call(LINK, json!({"name": "nobody"}))).await;
    scene.expect(200, call(REMOVE, json!({"name": "ben"}))).await;
    scene.expect(404, call(REMOVE, json!({"name": "ben"}))).await;
    scene.expect(422, call(REMOVE, json!({"name": "owner"}))).await;
    scene.expect(200, get(PEOPLE).by(&scene.owner)).await;
}

/// The tokens of Ben, who has one for his terminals.
async fn tokens(scene: &Scene, id: &Value) {
    const TOKEN: &str = "/v1/admin/people/token";
    const TOKENS: &str = "/v1/admin/people/tokens";
    const END: &str = "/v1/admin/people/tokens/end";
    let call = |path, body: Value| by_owner(scene, path, &body);
    for label in ["", "start", &"x".repeat(61)] {
        scene
            .expect(422, call(TOKEN, json!({"name": "ben", "label": label})))
            .await;
    }
    let named = scene
        .json(200, call(TOKEN, json!({"name": "ben", "label": "my laptop"})))
        .await;
    assert_eq!(named["label"], "my laptop");
    let list = |query| get(TOKENS).by(&scene.owner).query(query);
    let listed = scene.json(200, list("name=ben")).await;
    let found = listed["tokens"]
        .as_array()
        .and_then(|tokens| tokens.iter().find(|token| token["id"] == *id));
    assert_eq!(found.map(|token| &token["kind"]), Some(&json!("terminal")), "{listed}");
    scene.expect(404, list("name=nobody")).await;
    scene.expect(400, list("who=ben")).await;
    scene.expect(200, call(END, json!({"name": "ben", "id": id}))).await;
    scene.expect(404, call(END, json!({"name": "ben", "id": id}))).await;
    scene.expect(400, call(END, json!({"name": "ben"}))).await;
}

/// One delivery in each possible state. The outbox is not started, so their states do not change.
async fn deliveries(scene: &Scene) -> String {
    const DELIVERIES: &str = "/v1/admin/deliveries";
    const RETRY: &str = "/v1/admin/deliveries/retry";
    let push = json!({"mode": "confirm", "callback": {"mode": "push", "url": "https://hooks.example/x"}});
    let id = submitted(scene, &ask("push", push)).await;
    let answer = json!({"resolution": "answered", "value": "deny"});
    scene
        .expect(
            200,
            post("/v1/messages/{id}/resolve").by(&scene.ann).at(&id).json(&answer),
        )
        .await;
    shown(scene, &id, "pending").await;
    settle(
        scene,
        &id,
        Settlement::Failed {
            reason: "answered 404".to_owned(),
        },
    )
    .await;
    shown(scene, &id, "failed").await;
    scene.expect(200, by_owner(scene, RETRY, &json!({ "id": id }))).await;
    settle(scene, &id, Settlement::Delivered).await;
    shown(scene, &id, "delivered").await;
    scene.expect(404, by_owner(scene, RETRY, &json!({ "id": id }))).await;
    scene
        .expect(404, by_owner(scene, RETRY, &json!({ "id": NOWHERE })))
        .await;
    let all = scene.json(200, get(DELIVERIES).by(&scene.owner).query("limit=5")).await;
    assert_eq!(all["deliveries"].as_array().map(Vec::len), Some(1));
    scene
        .expect(400, get(DELIVERIES).by(&scene.owner).query("state=lost"))
        .await;
    id
}

async fn settle(scene: &Scene, id: &str, settlement: Settlement) {
    let host = scene.store.run(PendingHosts).await.expect("the store works").remove(0);
    let node = "node".to_owned();
    let lease = Duration::from_secs(60);
    scene
        .store
        .run(RegisterNode {
            id: node.clone(),
            lease,
        })
        .await
        .expect("the store works");
    let claim = ClaimDue {
        node,
        host,
        limit: 1,
        lease,
    };
    let claim = scene.store.run(claim).await.expect("the store works").remove(0);
    assert_eq!(claim.message_id.as_str(), id);
    assert!(
        scene
            .store
            .run(Settle { claim, settlement })
            .await
            .expect("the store works")
    );
}

async fn shown(scene: &Scene, id: &str, state: &str) {
    let query = format!("state={state}");
    let listed = scene
        .json(200, get("/v1/admin/deliveries").by(&scene.owner).query(&query))
        .await;
    assert_eq!(listed["deliveries"][0]["message_id"], id);
    let item = scene.json(200, get("/v1/inbox/{id}").by(&scene.ann).at(id)).await;
    assert_eq!(item["delivery"]["state"], state);
}

async fn audit(scene: &Scene, id: &str) {
    const AUDIT: &str = "/v1/admin/audit";
    for (subject, count) in [(id, 2), ("human:ann", 2), ("hub", 1), ("nobody", 0)] {
        let trail = scene
            .json(200, get(AUDIT).by(&scene.owner).query(&format!("id={subject}")))
            .await;
        assert_eq!(trail["entries"].as_array().map(Vec::len), Some(count), "{subject}");
    }
    scene.expect(400, get(AUDIT).by(&scene.owner)).await;
}

async fn keys(scene: &Scene) {
    const ROTATE: &str = "/v1/admin/keys/rotate";
    let keys = scene.json(200, by_owner(scene, ROTATE, &json!({}))).await;
    assert_eq!(
        keys["keys"].as_array().map(Vec::len),
        Some(2),
        "old and new are published"
    );
    scene
        .expect(422, by_owner(scene, ROTATE, &json!({"overlap_seconds": 7_776_001})))
        .await;
}
