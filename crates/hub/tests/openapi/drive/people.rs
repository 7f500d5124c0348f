use serde_json::json;

use super::agents::{NOWHERE, submitted};
use super::envelope::{ask, confirm, notify, rich, task};
use crate::call::{get, post};
use crate::scene::{Scene, Seen};

const INBOX: &str = "/v1/inbox";
const SHOW: &str = "/v1/inbox/{id}";
const RESOLVE: &str = "/v1/messages/{id}/resolve";

pub async fn people(seen: &Seen) {
    let scene = Scene::new(seen).await;
    let notice = submitted(&scene, &notify()).await;
    let form = submitted(&scene, &rich("form")).await;
    let done = submitted(&scene, &task("task")).await;
    submitted(&scene, &confirm("confirm")).await;
    let page = scene.json(200, get(INBOX).by(&scene.ann).query("limit=1")).await;
    assert_eq!(page["items"][0]["id"], form.as_str(), "the urgent one comes first");
    assert_eq!(page["items"][0]["can_answer"], true);
    let cursor = page["next_cursor"].as_str().expect("a full page");
    let rest = scene
        .json(200, get(INBOX).by(&scene.viewer).query(&format!("cursor={cursor}")))
        .await;
    assert_eq!(rest["items"].as_array().map(Vec::len), Some(2));
    for query in ["limit=201", "cursor=nonsense"] {
        scene.expect(400, get(INBOX).by(&scene.ann).query(query)).await;
    }
    for id in [&notice, &form, &done] {
        scene.expect(200, get(SHOW).by(&scene.viewer).at(id)).await;
    }
    scene.expect(404, get(SHOW).by(&scene.ann).at(NOWHERE)).await;
    shown_after_the_answer(&scene, &form, &done).await;
    let presets = scene.json(200, get("/v1/presets").by(&scene.viewer)).await;
    assert!(
        presets["reject"][0].is_string(),
        "there are some before an owner writes any: {presets}"
    );
}

async fn shown_after_the_answer(scene: &Scene, form: &str, done: &str) {
    let answer = json!({"resolution": "answered", "value": {"reason": "because", "pin": "4711"}, "comment": "fine"});
    scene
        .expect(200, post(RESOLVE).by(&scene.ann).at(form).json(&answer))
        .await;
    let shown = scene.json(200, get(SHOW).by(&scene.ann).at(form)).await;
    assert_eq!(
        shown["resolution"]["value"],
        json!({"reason": "because"}),
        "a sensitive field is not shown again"
    );
    let complete = json!({"resolution": "completed", "comment": "done"});
    scene
        .expect(200, post(RESOLVE).by(&scene.ann).at(done).json(&complete))
        .await;
    scene.expect(200, get(SHOW).by(&scene.ann).at(done)).await;
    let secret = json!({"mode": "select", "options": [{"value": "a", "label": "A", "description": "the first"}]});
    let mut secret = ask("secret", secret);
    secret["sensitive"] = json!(true);
    let secret = submitted(scene, &secret).await;
    let answer = json!({"resolution": "answered", "value": "a", "comment": "hush"});
    scene
        .expect(200, post(RESOLVE).by(&scene.ann).at(&secret).json(&answer))
        .await;
    let shown = scene.json(200, get(SHOW).by(&scene.ann).at(&secret)).await;
    assert_eq!(
        (&shown["resolution"]["value"], &shown["resolution"]["comment"]),
        (&json!(null), &json!(null))
    );
}
