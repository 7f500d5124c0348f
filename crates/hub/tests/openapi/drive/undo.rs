use countersign_protocol::time::Timestamp;
use countersign_store::ops::message::hold::ReleaseDue;
use countersign_store::ops::message::sweep::Purge;
use serde_json::{Value, json};

use super::agents::{NOWHERE, submitted};
use super::envelope::confirm;
use crate::call::{get, post};
use crate::scene::{START, Scene, Seen};

const RESOLVE: &str = "/v1/messages/{id}/resolve";
const UNDO: &str = "/v1/inbox/{id}/undo";

fn held_approval() -> Value {
    json!({"resolution": "answered", "value": "approve", "hold": true})
}

pub async fn undo(seen: &Seen) {
    let scene = Scene::new(seen).await;
    let id = submitted(&scene, &confirm("undo")).await;
    assert_eq!(refused(&scene, &scene.ann, &id).await, "not_held");
    let approval = held_approval();
    let by_agent = post(RESOLVE).by(&scene.bot).at(&id).json(&approval);
    assert_eq!(scene.json(400, by_agent).await["error"]["field"], "hold");
    let resolve = || post(RESOLVE).by(&scene.ann).at(&id).json(&approval);
    let held = scene.json(202, resolve()).await;
    assert_eq!(scene.json(409, resolve()).await["error"]["code"], "held");
    assert_eq!(refused(&scene, &scene.owner, &id).await, "held");
    seen_by_people_only(&scene, &held).await;
    scene.expect(200, post(UNDO).by(&scene.ann).at(&id)).await;
    scene.json(202, resolve()).await;
    scene.advance(5);
    let due = ReleaseDue {
        limit: 1,
        skipped: Vec::new(),
    };
    scene.store.run(due).await.expect("the store works");
    assert_eq!(refused(&scene, &scene.ann, &id).await, "already_terminal");
    scene.expect(404, post(UNDO).by(&scene.ann).at(NOWHERE)).await;
    purged(&scene, &id).await;
}

async fn refused(scene: &Scene, token: &str, id: &str) -> String {
    let reply = scene.json(409, post(UNDO).by(token).at(id)).await;
    reply["error"]["code"].as_str().expect("a code").to_owned()
}

async fn seen_by_people_only(scene: &Scene, held: &Value) {
    let listed = scene.json(200, get("/v1/inbox").by(&scene.viewer)).await;
    assert_eq!(listed["items"][0]["held"], held["held"]);
    let own = scene.json(200, get("/v1/messages").by(&scene.bot)).await;
    assert_eq!(own["messages"][0].get("held"), None, "the agent does not learn of it");
}

async fn purged(scene: &Scene, id: &str) {
    let purge = Purge {
        resolved_before: Timestamp::from_millis(START + 60_000),
        limit: 100,
    };
    scene.store.run(purge).await.expect("the store works");
    scene.expect(410, post(UNDO).by(&scene.ann).at(id)).await;
}
