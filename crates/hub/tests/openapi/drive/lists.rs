use serde_json::{Value, json};

use super::agents::submitted;
use super::envelope::{confirm, notify, rich, task};
use crate::call::{Call, get, post};
use crate::scene::{Scene, Seen};

const RESOLVE: &str = "/v1/messages/{id}/resolve";

pub async fn lists(seen: &Seen) {
    let scene = Scene::new(seen).await;
    let notice = submitted(&scene, &notify()).await;
    let form = submitted(&scene, &rich("form")).await;
    let errand = submitted(&scene, &task("task")).await;
    let yes_or_no = submitted(&scene, &confirm("confirm")).await;
    open(&scene, &form, &errand, &yes_or_no).await;
    assert_eq!(listed(&scene, get("/v1/notices")).await, [notice.as_str()]);
    found(&scene, &form).await;
    decided(&scene, &errand, &yes_or_no).await;
    events(&scene).await;
}

async fn listed(scene: &Scene, call: Call<'_>) -> Vec<String> {
    ids(&scene.json(200, call.by(&scene.ann)).await)
}

fn ids(page: &Value) -> Vec<String> {
    let items = page["items"].as_array().expect("items");
    items
        .iter()
        .map(|item| item["id"].as_str().expect("an id").to_owned())
        .collect()
}

async fn open(scene: &Scene, form: &str, errand: &str, yes_or_no: &str) {
    let inbox = || get("/v1/inbox");
    for query in ["project=p", "tag=x", "kind=form", "agent=bot&project=p&tag=x&kind=form"] {
        assert_eq!(listed(scene, inbox().query(query)).await, [form], "{query}");
    }
    assert_eq!(listed(scene, inbox().query("kind=task")).await, [errand]);
    assert_eq!(
        listed(scene, inbox().query("agent=bot")).await,
        [form, errand, yes_or_no]
    );
    for query in ["agent=somebody-else", "project=q", "tag=y", "kind=text"] {
        assert_eq!(listed(scene, inbox().query(query)).await, [""; 0], "{query}");
    }
    let fault = scene.json(400, inbox().by(&scene.ann).query("kind=riddle")).await;
    assert_eq!(fault["error"]["field"], "kind");
}

async fn found(scene: &Scene, form: &str) {
    let search = || get("/v1/search");
    assert_eq!(listed(scene, search().query("q=why")).await, [form]);
    assert_eq!(
        listed(scene, search().query("q=shi&limit=4")).await.len(),
        4,
        "the beginning of a word is enough"
    );
    let first = scene
        .json(200, search().by(&scene.viewer).query("q=ship&limit=3"))
        .await;
    let cursor = first["next_cursor"].as_str().expect("one more");
    assert_eq!(
        listed(scene, search().query(&format!("q=ship&cursor={cursor}")))
            .await
            .len(),
        1
    );
    for (query, field) in [("limit=1", "q"), ("q=a&limit=0", "limit"), ("q=a&cursor=b", "cursor")] {
        assert_eq!(
            scene.json(400, search().by(&scene.ann).query(query)).await["error"]["field"],
            field
        );
    }
    scene
        .expect(400, get("/v1/notices").by(&scene.ann).query("cursor=nonsense"))
        .await;
}

async fn decided(scene: &Scene, errand: &str, yes_or_no: &str) {
    let decided = || get("/v1/decided");
    assert_eq!(listed(scene, decided()).await, [""; 0]);
    for (id, body) in [
        (yes_or_no, json!({"resolution": "answered", "value": "approve"})),
        (errand, json!({"resolution": "completed"})),
    ] {
        scene.expect(200, post(RESOLVE).by(&scene.ann).at(id).json(&body)).await;
    }
    assert_eq!(listed(scene, decided()).await.len(), 2);
    assert_eq!(
        listed(scene, decided().query("status=answered&kind=confirm")).await,
        [yes_or_no]
    );
    let first = scene.json(200, decided().by(&scene.viewer).query("limit=1")).await;
    let cursor = first["next_cursor"].as_str().expect("one more");
    let rest = listed(scene, decided().query(&format!("cursor={cursor}"))).await;
    assert_eq!((rest.len(), rest == ids(&first)), (1, false), "the other one");
    for (query, field) in [
        ("status=open", "status"),
        ("status=eaten", "status"),
        ("cursor=12", "cursor"),
    ] {
        assert_eq!(
            scene.json(400, decided().by(&scene.ann).query(query)).await["error"]["field"],
            field
        );
    }
}

/// The number of streams per person is limited. A stopping hub sends the last event id and ends the stream.
async fn events(scene: &Scene) {
    let mut open = Vec::new();
    for _ in 0..50 {
        open.push(scene.held(get("/v1/inbox/events").by(&scene.viewer)).await);
    }
    scene.expect(429, get("/v1/inbox/events").by(&scene.viewer)).await;
    drop(open);
    scene.stop.send_replace(true);
    let reply = scene.expect(200, get("/v1/inbox/events").by(&scene.viewer)).await;
    let text = String::from_utf8(reply.body).expect("text");
    assert!(
        text.starts_with("retry: 2000\nid: ") && text.ends_with("\n\n"),
        "{text}"
    );
}
