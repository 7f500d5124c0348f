//! Runs, as API clients of people see them.

use std::sync::Arc;

use countersign_protocol::runs::PrepareRun;
use countersign_runs::{ClientAction, PrepareContext, RunClient, StartMode};
use serde_json::{Value, json};

use crate::call::{Call, get, post};
use crate::scene::{Scene, Seen};

const RUNS: &str = "/v1/runs";
const RUN: &str = "/v1/runs/{id}";
const STOP: &str = "/v1/runs/{id}/stop";
const ITEM: &str = "/v1/inbox/{id}";

pub async fn runs(seen: &Seen) {
    let scene = Scene::new(seen).await;
    assert_eq!(scene.json(200, get(RUNS).by(&scene.viewer)).await, json!({"runs": []}));
    for (run_id, input) in [("first", "fish"), ("second", "bird")] {
        begin(&scene, run_id, input).await;
    }
    listed(&scene).await;
    let id = shown(&scene).await;
    asked(&scene, &id).await;
    stopped(&scene, &id).await;
}

fn strategy() -> Value {
    json!({
        "name": "Review", "version": "1",
        "agents": {"draft": {"type": "template", "config": {"template": "Draft: {{input}}"}}, "editor": {"type": "user"}},
        "flow": {"name": "Main", "type": "sequential", "steps": [{"agent": "draft"}, {"agent": "editor"}]},
    })
}

/// Runs a strategy up to its question.
async fn begin(scene: &Scene, run_id: &str, input: &str) {
    let path = scene.scratch.0.join("review.json");
    std::fs::write(&path, strategy().to_string()).expect("a strategy");
    let request = PrepareRun {
        run_id: Some(run_id.to_owned()),
        strategy_path: path.to_str().map(str::to_owned),
        model_override: None,
        cwd: scene.scratch.0.to_str().map(str::to_owned),
        manifest_path: None,
    };
    let client = Arc::new(RunClient::new(1));
    let who = PrepareContext {
        client: &client,
        request_id: None,
        is_owner: true,
    };
    scene.hub.runs.prepare_run(request, who).await.expect("it is prepared");
    let prepared = scene.json(200, get(RUN).by(&scene.viewer).at(run_id)).await;
    assert_eq!(
        (&prepared["status"], &prepared["segment"]),
        (&json!("pending"), &json!(0))
    );
    scene
        .hub
        .runs
        .start_run(StartMode::Start, (run_id, input.to_owned()), None, &client)
        .await
        .expect("it is started");
    loop {
        match client.next().await {
            ClientAction::Send(text) if text.contains("\"type\":\"request_input\"") => return,
            ClientAction::Send(_) => {}
            ClientAction::Close(close) => panic!("{close:?}"),
        }
    }
}

async fn ids(scene: &Scene, call: Call<'_>) -> (Vec<String>, Option<String>) {
    let page = scene.json(200, call.by(&scene.viewer)).await;
    let runs = page["runs"].as_array().expect("runs").iter();
    let ids = runs
        .map(|run| run["run_id"].as_str().expect("an id").to_owned())
        .collect();
    (ids, page["next_cursor"].as_str().map(str::to_owned))
}

async fn listed(scene: &Scene) {
    assert_eq!(
        ids(scene, get(RUNS)).await,
        (vec!["second".to_owned(), "first".to_owned()], None)
    );
    let (latest, next) = ids(scene, get(RUNS).query("limit=1&status=running")).await;
    assert_eq!(latest, ["second"]);
    let next = format!("cursor={}", next.expect("one more"));
    assert_eq!(
        ids(scene, get(RUNS).query(&next)).await,
        (vec!["first".to_owned()], None)
    );
    let here = format!("cwd={}", scene.scratch.0.display());
    assert_eq!(ids(scene, get(RUNS).query(&here)).await.0.len(), 2);
    for query in ["status=completed", "cwd=%2Felsewhere"] {
        assert_eq!(ids(scene, get(RUNS).query(query)).await, (vec![], None), "{query}");
    }
    for (query, field) in [
        ("limit=0", "limit"),
        ("status=eaten", "status"),
        ("cursor=nonsense", "cursor"),
    ] {
        assert_eq!(
            scene.json(400, get(RUNS).by(&scene.ann).query(query)).await["error"]["field"],
            field
        );
    }
}

async fn shown(scene: &Scene) -> String {
    let run = scene.json(200, get(RUN).by(&scene.viewer).at("first")).await;
    assert_eq!(
        (&run["agents"], &run["flow_tree"]),
        (&json!(["draft", "editor"]), &strategy()["flow"])
    );
    assert_eq!(run["steps"][0]["result"]["text"], "Draft: fish");
    assert_eq!(
        (&run["steps"][1]["name"], &run["steps"][1]["result"]),
        (&json!("editor"), &Value::Null)
    );
    let waiting = &run["waiting"][0];
    assert_eq!(
        (&waiting["kind"], &waiting["prompt"]),
        (&json!("input"), &json!("Draft: fish"))
    );
    scene.expect(404, get(RUN).by(&scene.ann).at("nobody")).await;
    waiting["message_id"].as_str().expect("an id").to_owned()
}

async fn asked(scene: &Scene, id: &str) {
    let item = scene.json(200, get(ITEM).by(&scene.ann).at(id)).await;
    assert_eq!(
        (&item["may_be_empty"], &item["body"]),
        (&json!(true), &json!("Draft: fish"))
    );
    assert_eq!(
        (&item["source"]["runId"], &item["can_answer"]),
        (&json!("first"), &json!(true))
    );
    let prompt = scene
        .expect(200, get("/v1/inbox/{id}/prompt").by(&scene.viewer).at(id))
        .await;
    assert_eq!(prompt.body, b"Draft: fish");
}

async fn stopped(scene: &Scene, id: &str) {
    scene.expect(403, post(STOP).by(&scene.viewer).at("first")).await;
    scene.expect(404, post(STOP).by(&scene.ann).at("nobody")).await;
    for _again in 0..2 {
        scene.expect(204, post(STOP).by(&scene.ann).at("first")).await;
    }
    let run = scene.json(200, get(RUN).by(&scene.ann).at("first")).await;
    assert_eq!(
        (&run["status"], &run["error"]["code"]),
        (&json!("cancelled"), &json!("CANCELLED"))
    );
    assert_eq!((&run["waiting"], run["completed_at"].is_string()), (&json!([]), true));
    assert_eq!(
        scene.json(200, get(ITEM).by(&scene.ann).at(id)).await["status"],
        "cancelled"
    );
}
