use serde_json::{Value, json};

use super::{Shell, id, item};
use crate::harness::*;

fn old(request_id: &str, created_at: &str, resolution: Value) -> Value {
    json!({
        "request_id": request_id, "agent_id": "bamolodo", "runtime": "codex", "project_dir": "/srv/shop",
        "terminal": "bash", "kind": "cue", "prompt": format!("{request_id}?"), "payload": null,
        "created_at": created_at, "resolution": resolution,
    })
}

#[tokio::test(flavor = "multi_thread")]
async fn history_comes_along_once_and_open_requests_go_on() {
    let hub = Hub::start().await;
    let shell = Shell { agent_id: "bamolodo".to_owned(), ..Shell::join(&hub).await };
    let created_at = from_now(-3_600_000);
    let answer = json!({
        "status": "answered", "resolved_at": from_now(-1_800_000), "text": "Go on",
        "files": [{"name": "a.txt", "media_type": "text/plain", "data": "aGk="}],
    });
    let import = async |body: &Value| shell.api.post("/v1/hap/import", body).await.expect(200);
    let first = import(&old("req_1", &created_at, answer.clone())).await;
    assert_eq!(import(&old("req_1", &created_at, answer)).await, json!({"id": first["id"], "imported": false}));
    let shown = item(&hub, &id(&first)).await;
    assert_eq!((&shown["status"], &shown["resolution"]["value"]), (&json!("answered"), &json!("Go on")));
    assert_eq!(shown["resolution"]["actor"], "system:imported");
    assert!(shown["fetched_at"].is_string(), "its agent had it");
    let file = hub.owner.get(&format!("/v1/inbox/{}/files/0", id(&first))).await;
    assert_eq!(file.text(), "hi");
    assert_ne!(shell.ask_for_id("req_1?").await, id(&first), "an old answer is not given again");
    let open = import(&old("req_2", &created_at, Value::Null)).await;
    assert_eq!(id(&shell.again("req_2?").await), id(&open));
    hub.owner.answer(&id(&open), "at last").await.expect(200);
    assert_eq!(shell.outcome(&id(&open)).await["reply"]["text"], "at last");
}
