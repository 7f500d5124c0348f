use countersign_protocol::time::Timestamp;
use countersign_store::ops::message::sweep::Purge;
use serde_json::{Value, json};

use super::envelope::{ask, confirm, notify, rich, task};
use crate::call::{get, post};
use crate::scene::{START, Scene, Seen};

const SUBMIT: &str = "/v1/messages";
const PULL: &str = "/v1/messages/{id}";
const CANCEL: &str = "/v1/messages/{id}/cancel";
const RESOLVE: &str = "/v1/messages/{id}/resolve";
const CALLBACKS: &str = "/v1/callbacks";
pub const NOWHERE: &str = "msg_00000000000000000000000000";

pub async fn agents(seen: &Seen) {
    let scene = Scene::new(seen).await;
    submit(&scene).await;
    pull(&scene).await;
    outcomes(&scene).await;
    refused_outcomes(&scene).await;
    history(&scene).await;
    callbacks(&scene).await;
    expiry(&scene).await;
    gone(&scene).await;
    limits(seen).await;
}

pub async fn submitted(scene: &Scene, envelope: &Value) -> String {
    let ack = scene.json(202, post(SUBMIT).by(&scene.bot).json(envelope)).await;
    let id = ack["id"].as_str().expect("an id").to_owned();
    assert_eq!(
        ack["review_url"],
        format!("http://localhost:7422/inbox/items/{id}"),
        "for a replay too"
    );
    id
}

async fn submit(scene: &Scene) {
    let id = submitted(scene, &confirm("submit")).await;
    assert_eq!(
        submitted(scene, &confirm("submit")).await,
        id,
        "a replay gets the same ack"
    );
    let key = post(SUBMIT).header("x-api-key", &scene.bot).json(&confirm("submit"));
    assert_eq!(scene.json(202, key).await["id"], id.as_str());
    for envelope in [notify(), task("submit-task"), rich("submit-rich")] {
        submitted(scene, &envelope).await;
    }
    let refused = |envelope: Value| post(SUBMIT).by(&scene.bot).json(&envelope);
    let mut other = confirm("submit");
    other["title"] = json!("Ship something else?");
    assert_eq!(code(&scene.json(409, refused(other)).await), "idempotency_conflict");
    let mut nameless = notify();
    nameless["title"] = json!("");
    assert_eq!(scene.json(400, refused(nameless)).await["error"]["field"], "title");
    let mut future = notify();
    future["a2h_version"] = json!("1.0");
    assert_eq!(code(&scene.json(400, refused(future)).await), "version_not_supported");
    let mut foreign = notify();
    foreign["agent"]["id"] = json!("somebody-else");
    assert_eq!(code(&scene.json(403, refused(foreign)).await), "agent_id_mismatch");
    let twins = json!({"mode": "select", "options": [{"value": "a", "label": "A"}, {"value": "a", "label": "B"}]});
    scene.expect(422, refused(ask("twins", twins))).await;
    let push = json!({"mode": "confirm", "callback": {"mode": "push", "url": "https://hooks.example/x"}});
    scene.expect(422, refused(ask("unapproved", push))).await;
}

async fn pull(scene: &Scene) {
    let id = submitted(scene, &rich("pull")).await;
    let mine = || get(PULL).by(&scene.bot).at(&id);
    let open = scene.expect(200, mine()).await;
    assert_eq!(open.json()["x_unknown"], json!([1, 2]));
    scene
        .expect(304, mine().header("if-none-match", open.header("etag")))
        .await;
    scene.expect(304, mine().query("since=2026-11-15T09:30:00Z")).await;
    scene.expect(400, mine().query("wait=soon")).await;
    scene.expect(404, get(PULL).by(&scene.bot).at(NOWHERE)).await;
    let answer = json!({"resolution": "answered", "value": {"reason": "because", "pin": "4711"}, "comment": "fine"});
    scene
        .expect(200, post(RESOLVE).by(&scene.ann).at(&id).json(&answer))
        .await;
    let answered = scene.json(200, mine().query("wait=60")).await;
    assert_eq!(answered["response"]["response"]["value"]["pin"], "4711");
    assert_eq!(answered["response"]["ma2h_version"], "0.6");
}

async fn outcomes(scene: &Scene) {
    let decline = submitted(scene, &confirm("decline")).await;
    let declined = json!({"resolution": "declined", "comment": null, "value": null});
    scene
        .expect(200, post(RESOLVE).by(&scene.bot).at(&decline).json(&declined))
        .await;
    for (key, resolution) in [("complete", "completed"), ("dismiss", "dismissed")] {
        let id = submitted(scene, &task(key)).await;
        let checklist = json!([{"text": "renewed", "done": true}, {"text": "restarted", "done": true}]);
        let body = json!({"resolution": resolution, "checklist": checklist});
        scene
            .expect(200, post(RESOLVE).by(&scene.ann).at(&id).json(&body))
            .await;
        scene.expect(200, get(PULL).by(&scene.bot).at(&id)).await;
    }
    let cancelled = submitted(scene, &confirm("cancel")).await;
    for _again in 0..2 {
        scene.expect(200, post(CANCEL).by(&scene.bot).at(&cancelled)).await;
    }
    scene.expect(200, get(PULL).by(&scene.bot).at(&cancelled)).await;
}

async fn refused_outcomes(scene: &Scene) {
    let id = submitted(scene, &confirm("refused")).await;
    let resolve = |body: Value| post(RESOLVE).by(&scene.ann).at(&id).json(&body);
    let approve = json!({"resolution": "answered", "value": "approve"});
    scene.expect(400, resolve(json!({"resolution": "answered"}))).await;
    scene
        .expect(422, resolve(json!({"resolution": "answered", "value": "perhaps"})))
        .await;
    scene.expect(422, resolve(json!({"resolution": "completed"}))).await;
    for stranger in [&scene.owner, &scene.viewer] {
        scene
            .expect(403, post(RESOLVE).by(stranger).at(&id).json(&approve))
            .await;
    }
    scene
        .expect(404, post(RESOLVE).by(&scene.ann).at(NOWHERE).json(&approve))
        .await;
    scene
        .expect(404, post(RESOLVE).by(&scene.ann).at("nonsense").json(&approve))
        .await;
    scene.expect(200, resolve(approve.clone())).await;
    let late = scene.json(409, resolve(approve)).await;
    assert_eq!((&late["id"], &late["status"]), (&json!(id), &json!("answered")));
    scene.expect(409, post(CANCEL).by(&scene.bot).at(&id)).await;
    scene.expect(404, post(CANCEL).by(&scene.bot).at(NOWHERE)).await;
    let task = submitted(scene, &task("no-cancel")).await;
    scene.expect(400, post(CANCEL).by(&scene.bot).at(&task)).await;
}

async fn history(scene: &Scene) {
    let page = scene.json(200, get(SUBMIT).by(&scene.bot).query("limit=3")).await;
    let cursor = page["next_cursor"].as_str().expect("a full page");
    scene
        .expect(200, get(SUBMIT).by(&scene.bot).query(&format!("cursor={cursor}")))
        .await;
    scene
        .expect(200, get(SUBMIT).by(&scene.viewer).query("status=answered"))
        .await;
    for query in ["limit=0", "limit=many", "status=lost", "cursor=msg_1"] {
        scene.expect(400, get(SUBMIT).by(&scene.bot).query(query)).await;
    }
}

async fn callbacks(scene: &Scene) {
    let register = |body: Value| post(CALLBACKS).by(&scene.bot).json(&body);
    let host = scene.json(201, register(json!({"host": "Hooks.Example:8443"}))).await;
    assert_eq!(
        (&host["host"], &host["state"]),
        (&json!("hooks.example:8443"), &json!("pending"))
    );
    scene
        .expect(400, register(json!({"host": "hooks.example", "agent_id": "bot"})))
        .await;
    scene
        .expect(422, register(json!({"host": "https://hooks.example/"})))
        .await;
}

/// Advances the clock, so it must run late.
async fn expiry(scene: &Scene) {
    let with_default = submitted(scene, &rich("expire-with-default")).await;
    let mut bare = confirm("expire");
    bare["expires_at"] = json!("2026-11-15T10:30:00Z");
    let bare = submitted(scene, &bare).await;
    let late = rich("too-late");
    let late_id = submitted(scene, &late).await;
    scene.advance(3601);
    let view = scene
        .json(200, get(PULL).by(&scene.bot).at(&with_default).query("wait=60"))
        .await;
    assert_eq!(view["response"]["defaulted"], true);
    let view = scene.json(200, get(PULL).by(&scene.bot).at(&bare)).await;
    assert_eq!(view["response"]["response"]["actor"], "system:expired");
    let too_late = json!({"resolution": "answered", "value": {"reason": "now"}});
    let lost = scene
        .json(409, post(RESOLVE).by(&scene.ann).at(&late_id).json(&too_late))
        .await;
    assert_eq!(lost["resolution"], "expired");
    assert_eq!(
        submitted(scene, &late).await,
        late_id,
        "a replay after the expiry gets its ack"
    );
    let mut fresh = late;
    fresh["idempotency_key"] = json!("fresh");
    scene.expect(422, post(SUBMIT).by(&scene.bot).json(&fresh)).await;
}

async fn gone(scene: &Scene) {
    let id = submitted(scene, &confirm("gone")).await;
    scene.expect(200, post(CANCEL).by(&scene.bot).at(&id)).await;
    let resolved_before = Timestamp::from_millis(START + 7_200_000);
    assert!(
        scene
            .store
            .run(Purge {
                resolved_before,
                limit: 100
            })
            .await
            .expect("the store works")
            > 0
    );
    scene.expect(410, get(PULL).by(&scene.bot).at(&id)).await;
    scene.expect(410, post(CANCEL).by(&scene.bot).at(&id)).await;
    let decline = json!({"resolution": "declined"});
    scene
        .expect(410, post(RESOLVE).by(&scene.ann).at(&id).json(&decline))
        .await;
    scene.expect(410, get("/v1/inbox/{id}").by(&scene.ann).at(&id)).await;
}

async fn limits(seen: &Seen) {
    let full = Scene::with(seen, |file| file.limits.inbox_depth = Some(1)).await;
    submitted(&full, &confirm("first")).await;
    full.expect(429, post(SUBMIT).by(&full.bot).json(&confirm("second")))
        .await;
    let slow = Scene::with(seen, |file| file.limits.requests_per_minute = Some(1)).await;
    submitted(&slow, &notify()).await;
    for path in [SUBMIT, CANCEL, RESOLVE, CALLBACKS] {
        slow.expect(429, post(path).by(&slow.bot).at(NOWHERE).json(&notify()))
            .await;
    }
}

fn code(body: &Value) -> &str {
    body["error"]["code"].as_str().unwrap_or_default()
}
