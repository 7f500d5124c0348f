use countersign_protocol::time::Timestamp;
use countersign_store::ops::message::sweep::Purge;
use serde_json::{Value, json};

use super::agents::{NOWHERE, submitted};
use super::envelope::{confirm, notify};
use crate::call::{get, post};
use crate::scene::{START, Scene, Seen};

const SNOOZE: &str = "/v1/inbox/{id}/aside";
const ARCHIVE: &str = "/v1/inbox/{id}/archive";
const RETURN: &str = "/v1/inbox/{id}/return";

/// An hour after the start.
fn later() -> Value {
    json!({"until": "2026-11-15T11:30:00+01:00"})
}

pub async fn shelf(seen: &Seen) {
    let scene = Scene::new(seen).await;
    let id = submitted(&scene, &confirm("aside")).await;
    snooze(&scene, &id).await;
    archived(&scene, &id).await;
    for path in [SNOOZE, ARCHIVE, RETURN] {
        scene
            .expect(404, post(path).by(&scene.ann).at(NOWHERE).json(&later()))
            .await;
    }
    over(&scene, &id).await;
}

async fn items(scene: &Scene, path: &str, token: &str) -> Vec<Value> {
    let page = scene.json(200, get(path).by(token)).await;
    page["items"].as_array().expect("items").clone()
}

async fn snooze(scene: &Scene, id: &str) {
    scene
        .expect(200, post(SNOOZE).by(&scene.ann).at(id).json(&later()))
        .await;
    assert!(items(scene, "/v1/inbox", &scene.ann).await.is_empty());
    assert_eq!(
        items(scene, "/v1/inbox", &scene.viewer).await.len(),
        1,
        "other people still see it"
    );
    let snoozed = items(scene, "/v1/inbox/aside", &scene.ann).await;
    assert_eq!(
        (&snoozed[0]["id"], &snoozed[0]["until"]),
        (&json!(id), &json!("2026-11-15T10:30:00.000Z"))
    );
    scene.expect(200, post(RETURN).by(&scene.ann).at(id)).await;
    assert!(items(scene, "/v1/inbox/aside", &scene.ann).await.is_empty());
    scene
        .expect(200, post(SNOOZE).by(&scene.ann).at(id).json(&later()))
        .await;
    scene.advance(3601);
    assert_eq!(
        items(scene, "/v1/inbox", &scene.ann).await.len(),
        1,
        "it returned by itself"
    );
    for until in ["2026-11-15T09:30:00Z", "2027-11-15T09:30:00Z", "tomorrow"] {
        let refused = scene
            .json(422, post(SNOOZE).by(&scene.ann).at(id).json(&json!({ "until": until })))
            .await;
        assert_eq!(refused["error"]["field"], "until");
    }
    scene.advance(0);
}

async fn archived(scene: &Scene, open: &str) {
    let notice = submitted(scene, &notify()).await;
    scene
        .expect(422, post(SNOOZE).by(&scene.ann).at(&notice).json(&later()))
        .await;
    scene.expect(422, post(ARCHIVE).by(&scene.ann).at(open)).await;
    scene.expect(200, post(ARCHIVE).by(&scene.ann).at(&notice)).await;
    assert!(items(scene, "/v1/notices", &scene.ann).await.is_empty());
    assert_eq!(items(scene, "/v1/notices", &scene.viewer).await.len(), 1);
    scene.expect(200, post(RETURN).by(&scene.ann).at(&notice)).await;
    assert_eq!(items(scene, "/v1/notices", &scene.ann).await.len(), 1);
}

async fn over(scene: &Scene, id: &str) {
    scene
        .expect(200, post("/v1/messages/{id}/cancel").by(&scene.bot).at(id))
        .await;
    scene
        .expect(409, post(SNOOZE).by(&scene.ann).at(id).json(&later()))
        .await;
    let resolved_before = Timestamp::from_millis(START + 1);
    scene
        .store
        .run(Purge {
            resolved_before,
            limit: 100,
        })
        .await
        .expect("the store works");
    for path in [SNOOZE, ARCHIVE, RETURN] {
        scene.expect(410, post(path).by(&scene.ann).at(id).json(&later())).await;
    }
}
