//! Agents in terminals, and the people who answer them.

use countersign_protocol::time::Timestamp;
use countersign_store::ops::message::sweep::Purge;
use serde_json::{Value, json};

use super::agents::{NOWHERE, submitted};
use super::envelope::confirm;
use crate::call::{Call, get, post};
use crate::scene::{START, Scene, Seen};

const JOIN: &str = "/v1/hap/join";
const CUES: &str = "/v1/hap/cues";
const CUE: &str = "/v1/hap/cues/{id}";
const CUE_FILE: &str = "/v1/hap/cues/{id}/files/{index}";
const COLLECTED: &str = "/v1/hap/cues/{id}/collected";
const CURRENT: &str = "/v1/hap/agents/{agent_id}/current";
const KEPT: &str = "/v1/hap/agents/{agent_id}/kept";
const IMPORT: &str = "/v1/hap/import";
const PROMPT: &str = "/v1/inbox/{id}/prompt";
const FILE: &str = "/v1/inbox/{id}/files/{index}";
const AHEAD: &str = "/v1/terminals/{agent_id}/ahead";
const DROP: &str = "/v1/terminals/{agent_id}/ahead/{id}/drop";
const RESOLVE: &str = "/v1/messages/{id}/resolve";

pub async fn terminals(seen: &Seen) {
    let scene = Scene::new(seen).await;
    let agent_id = joined(&scene).await;
    let id = cued(&scene, &agent_id).await;
    asked_badly(&scene, &agent_id).await;
    answered(&scene, &agent_id, &id).await;
    ahead(&scene, &agent_id).await;
    imported(&scene).await;
    listed(&scene, &agent_id).await;
    emptied(&scene, &id).await;
    limits(seen).await;
}

async fn joined(scene: &Scene) -> String {
    let body = json!({"runtime": "Claude-Code", "project_dir": "/home/ann/shop", "terminal": "zsh"});
    let terminal = scene.json(201, post(JOIN).by(&scene.terminal).json(&body)).await;
    assert_eq!(terminal["runtime"], "claude_code");
    let brought = json!({"agent_id": "old-name", "runtime": null});
    scene.expect(201, post(JOIN).by(&scene.terminal).json(&brought)).await;
    scene.expect(200, post(JOIN).by(&scene.terminal).json(&brought)).await;
    for (body, field) in [
        (json!({"agent_id": "bot"}), "agent_id"),
        (json!({"agent_id": "two words"}), "agent_id"),
        (json!({"agent_id": "human:ann"}), "agent_id"),
        (json!({"runtime": "日本"}), "runtime"),
        (json!({"project_dir": "x".repeat(4097)}), "project_dir"),
        (json!({"terminal": "x".repeat(65)}), "terminal"),
        (json!({"terminal": 1}), "terminal"),
    ] {
        let refused = scene.json(422, post(JOIN).by(&scene.terminal).json(&body)).await;
        assert_eq!(refused["error"]["field"], field);
    }
    scene
        .expect(422, post(JOIN).by(&scene.other_terminal).json(&brought))
        .await;
    terminal["agent_id"].as_str().expect("a name").to_owned()
}

fn cue(scene: &Scene, body: &Value) -> Call<'static> {
    post(CUES).by(&scene.terminal).json(body)
}

fn plain(agent_id: &str) -> Value {
    json!({"agent_id": agent_id, "kind": "cue", "prompt": "# Ship it?\nAll green.", "payload": null})
}

async fn cued(scene: &Scene, agent_id: &str) -> String {
    let ack = scene.json(201, cue(scene, &plain(agent_id))).await;
    let id = ack["id"].as_str().expect("an id").to_owned();
    assert_eq!(ack["url"], format!("http://localhost:7422/inbox/items/{id}"));
    let again = scene.json(200, cue(scene, &plain(agent_id))).await;
    assert_eq!((&again["id"], &again["attached"]), (&json!(id), &json!(true)));
    for body in [
        json!({"agent_id": agent_id, "kind": "cue", "prompt": "Which?", "payload": {"type": "poll"}}),
        json!({"agent_id": agent_id, "kind": "pause", "terminal": "bash"}),
        json!({"agent_id": agent_id, "kind": "cue", "prompt": "Fill in", "payload": {"type": "form", "fields": [
            {"label": "Zone", "options": ["eu", "us"], "allow_multiple": true}, {"label": "Why", "kind": "textarea"},
        ]}}),
    ] {
        let ack = scene.json(201, cue(scene, &body)).await;
        scene
            .expect(
                200,
                get("/v1/inbox/{id}")
                    .by(&scene.viewer)
                    .at(ack["id"].as_str().expect("an id")),
            )
            .await;
    }
    scene.expect(200, get(CURRENT).by(&scene.terminal).of(agent_id)).await;
    scene
        .expect(404, get(CURRENT).by(&scene.other_terminal).of(agent_id))
        .await;
    id
}

async fn asked_badly(scene: &Scene, agent_id: &str) {
    for (body, field) in [
        (json!({"kind": "cue", "prompt": "x"}), "agent_id"),
        (json!({"agent_id": "bot", "kind": "cue", "prompt": "x"}), "agent_id"),
        (json!({"agent_id": agent_id, "kind": "riddle", "prompt": "x"}), "kind"),
        (json!({"agent_id": agent_id, "kind": "cue", "prompt": " \n"}), "prompt"),
        (
            json!({"agent_id": agent_id, "kind": "cue", "prompt": "x", "payload": []}),
            "payload",
        ),
        (json!({"agent_id": agent_id, "kind": "pause", "payload": {}}), "payload"),
        (
            json!({"agent_id": agent_id, "kind": "cue", "prompt": "x", "payload": {"a": "x".repeat(300_000)}}),
            "payload",
        ),
    ] {
        let refused = scene.json(422, cue(scene, &body)).await;
        assert_eq!(refused["error"]["field"], field);
    }
    scene
        .expect(422, post(CUES).by(&scene.other_terminal).json(&plain(agent_id)))
        .await;
}

async fn answered(scene: &Scene, agent_id: &str, id: &str) {
    let mine = || get(CUE).by(&scene.terminal).at(id);
    assert_eq!(scene.json(200, mine()).await, json!({"id": id, "status": "open"}));
    scene.expect(400, mine().query("wait=soon")).await;
    scene.expect(404, get(CUE).by(&scene.other_terminal).at(id)).await;
    scene.expect(404, post(COLLECTED).by(&scene.terminal).at(id)).await;
    let shown = scene.json(200, get("/v1/inbox/{id}").by(&scene.ann).at(id)).await;
    assert_eq!(
        (&shown["open_ended"], &shown["presence"]["state"]),
        (&json!(true), &json!("waiting"))
    );
    let resolve = |body: Value| post(RESOLVE).by(&scene.ann).at(id).json(&body);
    let file = json!({"name": "notes.txt", "media_type": "text/plain", "data": "aGVsbG8K"});
    scene
        .expect(400, resolve(json!({"resolution": "declined", "files": [file]})))
        .await;
    scene
        .expect(
            422,
            resolve(json!({"resolution": "answered", "files": [{"name": "a/b", "data": ""}]})),
        )
        .await;
    scene
        .expect(200, resolve(json!({"resolution": "answered", "files": [file]})))
        .await;
    let kept = async |token| scene.json(200, get(KEPT).by(token).of(agent_id)).await["kept"].clone();
    let waiting = kept(&scene.terminal).await;
    assert_eq!(
        waiting.as_array().map(Vec::len),
        Some(0),
        "its process is still expected: {waiting}"
    );
    scene
        .expect(404, get(KEPT).by(&scene.other_terminal).of(agent_id))
        .await;
    let cue = scene.json(200, mine().query("wait=60")).await;
    assert_eq!(
        (&cue["reply"]["text"], &cue["reply"]["files"][0]["size"]),
        (&json!(""), &json!(6))
    );
    let bytes = scene.expect(200, get(CUE_FILE).by(&scene.terminal).at(id)).await;
    assert_eq!(
        (bytes.body.as_slice(), bytes.header("content-type")),
        (&b"hello\n"[..], "application/octet-stream")
    );
    for (call, token) in [(CUE_FILE, &scene.terminal), (FILE, &scene.viewer)] {
        scene.expect(404, get(call).by(token).nth("1").at(id)).await;
        scene.expect(404, get(call).by(token).nth("first").at(id)).await;
    }
    scene.expect(200, get(FILE).by(&scene.viewer).at(id)).await;
    let prompt = scene.expect(200, get(PROMPT).by(&scene.viewer).at(id)).await;
    assert_eq!(prompt.body, b"# Ship it?\nAll green.");
    for _again in 0..2 {
        scene.expect(204, post(COLLECTED).by(&scene.terminal).at(id)).await;
    }
    scene
        .expect(404, post(COLLECTED).by(&scene.other_terminal).at(id))
        .await;
    let other = submitted(scene, &confirm("no-prompt")).await;
    for nothing in [NOWHERE, other.as_str()] {
        scene.expect(404, get(PROMPT).by(&scene.ann).at(nothing)).await;
        scene.expect(404, get(FILE).by(&scene.ann).at(nothing)).await;
    }
    assert_ne!(
        scene.json(200, get(CURRENT).by(&scene.terminal).of(agent_id)).await["id"],
        id
    );
}

async fn ahead(scene: &Scene, agent_id: &str) {
    let type_ahead = |text: &str| post(AHEAD).by(&scene.ann).of(agent_id).json(&json!({ "text": text }));
    let first = scene.json(201, type_ahead("Then run the tests.")).await["id"].to_string();
    for text in [" ", &"x".repeat(20_001)] {
        assert_eq!(scene.json(422, type_ahead(text)).await["error"]["field"], "text");
    }
    for stranger in [&scene.owner, &scene.viewer] {
        scene
            .expect(403, post(AHEAD).by(stranger).of(agent_id).json(&json!({"text": "x"})))
            .await;
    }
    scene
        .expect(404, post(AHEAD).by(&scene.ann).of("nobody").json(&json!({"text": "x"})))
        .await;
    scene.expect(404, get(AHEAD).by(&scene.ann).of("nobody")).await;
    scene.expect(403, get(AHEAD).by(&scene.viewer).of(agent_id)).await;
    let waiting = scene.json(200, get(AHEAD).by(&scene.ann).of(agent_id)).await;
    assert_eq!(waiting["ahead"][0]["text"], "Then run the tests.");
    for _ in 1..20 {
        scene.expect(201, type_ahead("And again.")).await;
    }
    scene.expect(429, type_ahead("One too many.")).await;
    scene
        .expect(404, post(DROP).by(&scene.owner).of(agent_id).at(&first))
        .await;
    scene
        .expect(204, post(DROP).by(&scene.ann).of(agent_id).at(&first))
        .await;
    scene
        .expect(404, post(DROP).by(&scene.ann).of(agent_id).at(&first))
        .await;
    scene.expect(404, post(DROP).by(&scene.ann).of("nobody").at("1")).await;
    let body = json!({"agent_id": agent_id, "kind": "cue", "prompt": "What now?"});
    let ack = scene.json(201, cue(scene, &body)).await;
    assert_eq!(ack["status"], "answered", "{ack}");
    let id = ack["id"].as_str().expect("an id");
    let answer = scene
        .json(200, get(CUE).by(&scene.terminal).at(id).query("wait=60"))
        .await;
    assert_eq!(
        (&answer["reply"]["text"], &answer["actor"]),
        (&json!("And again."), &json!("human:ann"))
    );
}

fn old(request_id: &str, resolution: Value) -> Value {
    json!({
        "request_id": request_id, "agent_id": "migrated", "runtime": "codex", "project_dir": "/srv", "terminal": "bash",
        "kind": "cue", "prompt": "Ship 1.3?", "created_at": "2026-10-01T09:30:00+02:00", "resolution": resolution,
    })
}

async fn imported(scene: &Scene) {
    let import = |body: &Value| post(IMPORT).by(&scene.terminal).json(body);
    let answer = json!({
        "status": "answered", "resolved_at": "2026-10-01T07:31:00Z", "text": "Go on",
        "files": [{"name": "a.txt", "data": "aGk="}],
    });
    let first = scene.json(200, import(&old("req_1", answer.clone()))).await;
    assert_eq!(first["imported"], true);
    let again = scene.json(200, import(&old("req_1", answer))).await;
    assert_eq!((&again["id"], &again["imported"]), (&first["id"], &json!(false)));
    let item = scene
        .json(
            200,
            get("/v1/inbox/{id}")
                .by(&scene.ann)
                .at(first["id"].as_str().expect("an id")),
        )
        .await;
    assert_eq!(item["created_at"], "2026-10-01T07:30:00.000Z");
    assert_eq!(
        item["resolution"]["actor"], "system:imported",
        "an imported decision is not attributed to ann"
    );
    let late =
        json!({"status": "declined", "resolved_at": "2026-10-01T07:31:00Z", "comment": "no", "collected": false});
    let unread = scene.json(200, import(&old("req_0", late))).await;
    let kept = scene.json(200, get(KEPT).by(&scene.terminal).of("migrated")).await["kept"].clone();
    assert_eq!(
        (&kept[0]["id"], &kept[0]["title"]),
        (&unread["id"], &json!("Ship 1.3?"))
    );
    assert_eq!(
        kept.as_array().map(Vec::len),
        Some(1),
        "the other one was already collected"
    );
    let open = scene.json(200, import(&old("req_2", Value::Null))).await;
    let shown = scene
        .json(
            200,
            get("/v1/inbox/{id}")
                .by(&scene.ann)
                .at(open["id"].as_str().expect("an id")),
        )
        .await;
    assert_eq!(
        shown["presence"]["state"], "gone",
        "the asking process does not wait at this hub"
    );
    let current = scene.json(200, get(CURRENT).by(&scene.terminal).of("migrated")).await;
    assert_eq!((&current["id"], &current["status"]), (&open["id"], &json!("open")));
    let ended = |status: &str, more: (&str, Value)| {
        let mut resolution = json!({"status": status, "resolved_at": "2026-10-01T09:31:00Z"});
        resolution[more.0] = more.1;
        old("req_3", resolution)
    };
    let mut foreign = old("req_4", Value::Null);
    foreign["agent_id"] = json!("bot");
    let mut future = old("req_4", Value::Null);
    future["created_at"] = json!("2027-10-01T09:30:00Z");
    for body in [
        ended("lost", ("comment", Value::Null)),
        ended("declined", ("text", json!("no"))),
        ended("answered", ("files", json!([{"name": "..", "data": ""}]))),
        ended("answered", ("resolved_at", json!("yesterday"))),
        ended("answered", ("collected", json!("no"))),
        old("", Value::Null),
        foreign,
        future,
    ] {
        scene.expect(422, import(&body)).await;
    }
    scene
        .expect(
            422,
            post(IMPORT).by(&scene.other_terminal).json(&old("req_5", Value::Null)),
        )
        .await;
}

async fn listed(scene: &Scene, agent_id: &str) {
    let page = scene.json(200, get("/v1/terminals").by(&scene.viewer)).await;
    let terminals = page["terminals"].as_array().expect("terminals");
    let one = terminals
        .iter()
        .find(|terminal| terminal["agent_id"] == agent_id)
        .expect("it is there");
    assert_eq!(
        (&one["person"], &one["open"], &one["ahead"]),
        (&json!("ann"), &json!(3), &json!(18))
    );
}

async fn emptied(scene: &Scene, id: &str) {
    let resolved_before = Timestamp::from_millis(START + 1);
    scene
        .store
        .run(Purge {
            resolved_before,
            limit: 100,
        })
        .await
        .expect("the store works");
    scene.expect(410, get(PROMPT).by(&scene.ann).at(id)).await;
    scene.expect(410, get(FILE).by(&scene.ann).at(id)).await;
    scene.expect(404, get(CUE_FILE).by(&scene.terminal).at(id)).await;
}

async fn limits(seen: &Seen) {
    let full = Scene::with(seen, |file| file.limits.inbox_depth = Some(1)).await;
    full.expect(201, cue(&full, &plain("first"))).await;
    let mut second = plain("first");
    second["prompt"] = json!("And?");
    full.expect(429, cue(&full, &second)).await;
    let slow = Scene::with(seen, |file| file.limits.requests_per_minute = Some(1)).await;
    slow.expect(201, post(JOIN).by(&slow.terminal).json(&json!({}))).await;
    for path in [JOIN, CUES, IMPORT, COLLECTED] {
        slow.expect(429, post(path).by(&slow.terminal).at(NOWHERE).json(&json!({})))
            .await;
    }
    slow.expect(201, post(JOIN).by(&slow.other_terminal).json(&json!({})))
        .await;
}
