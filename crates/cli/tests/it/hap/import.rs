use serde_json::{Value, json};

use super::{TerminalAgent, id, item};
use crate::harness::*;
use crate::web::WebClient;

fn old(request_id: &str, created_at: &str, resolution: Value) -> Value {
    json!({
        "request_id": request_id, "agent_id": "bamolodo", "runtime": "codex", "project_dir": "/srv/shop",
        "terminal": "bash", "kind": "cue", "prompt": format!("{request_id}?"), "payload": null,
        "created_at": created_at, "resolution": resolution,
    })
}

#[tokio::test(flavor = "multi_thread")]
async fn history_is_imported_once_and_open_requests_continue() {
    let hub = Hub::start().await;
    let shell = TerminalAgent {
        agent_id: "bamolodo".to_owned(),
        ..TerminalAgent::join(&hub).await
    };
    let created_at = from_now(-3_600_000);
    let answer = json!({
        "status": "answered", "resolved_at": from_now(-1_800_000), "text": "Go on",
        "files": [{"name": "a.txt", "media_type": "text/plain", "data": "aGk="}],
    });
    let import = async |body: &Value| shell.api.post("/v1/hap/import", body).await.expect(200);
    let first = import(&old("req_1", &created_at, answer.clone())).await;
    assert_eq!(
        import(&old("req_1", &created_at, answer)).await,
        json!({"id": first["id"], "imported": false})
    );
    let shown = item(&hub, &id(&first)).await;
    assert_eq!(
        (&shown["status"], &shown["resolution"]["value"]),
        (&json!("answered"), &json!("Go on"))
    );
    assert_eq!(shown["resolution"]["actor"], "system:imported");
    assert!(shown["fetched_at"].is_string(), "its agent already read it");
    let file = hub.owner.get(&format!("/v1/inbox/{}/files/0", id(&first))).await;
    assert_eq!(file.text(), "hi");
    assert_ne!(
        shell.ask_for_id("req_1?").await,
        id(&first),
        "an old answer is not delivered again"
    );
    let open = import(&old("req_2", &created_at, Value::Null)).await;
    assert_eq!(id(&shell.ask_again("req_2?").await), id(&open));
    hub.owner.answer(&id(&open), "at last").await.expect(200);
    assert_eq!(shell.outcome(&id(&open)).await["reply"]["text"], "at last");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_audit_trail_has_the_import_time_not_the_claimed_one() {
    let hub = Hub::start().await;
    let shell = TerminalAgent {
        agent_id: "bamolodo".to_owned(),
        ..TerminalAgent::join(&hub).await
    };
    let before = from_now(-1000);
    let ended =
        json!({"status": "answered", "resolved_at": "2001-01-02T00:00:00Z", "text": "approve", "collected": false});
    let mut old = old("req_1", "2001-01-01T00:00:00Z", ended);
    old["payload"] = json!({"type": "confirm", "confirm_label": "Deploy", "cancel_label": "Hold"});
    let ack = shell.api.post("/v1/hap/import", &old).await.expect(200);
    let trail = hub
        .owner
        .get(&format!("/v1/admin/audit?id={}", id(&ack)))
        .await
        .expect(200);
    let entries = trail["entries"].as_array().expect("entries");
    assert_eq!(entries.len(), 2);
    for entry in entries {
        assert!(entry["at"].as_str().is_some_and(|at| at > before.as_str()), "{entry}");
    }
    let shown = item(&hub, &id(&ack)).await;
    assert_eq!(shown["created_at"], "2001-01-01T00:00:00.000Z", "the claimed time");
    assert!(
        shown["source"]["imported_at"]
            .as_str()
            .is_some_and(|at| at > before.as_str()),
        "{shown}"
    );
    let page = WebClient::signed_in(&hub)
        .await
        .get(&format!("/inbox/items/{}", id(&ack)))
        .await
        .expect(200);
    assert!(
        page.text_at("#imported").contains("Imported"),
        "the page marks it as imported"
    );
    let cue = shell.get_cue(&id(&ack)).await;
    assert_eq!(
        (&cue["confirmed"], &cue["reply"]["text"]),
        (&json!(false), &json!("approve")),
        "an imported text is not a confirmation"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn file_names_with_invisible_characters_are_refused() {
    let hub = Hub::start().await;
    let shell = TerminalAgent::join(&hub).await;
    for name in ["photo\u{202e}gpj.exe", "a\u{200b}.txt", "a\u{2028}b"] {
        let files = json!([{"name": name, "data": "aGk="}]);
        let ended = json!({"status": "answered", "resolved_at": from_now(-1000), "text": "x", "files": files});
        let import = shell
            .api
            .post("/v1/hap/import", &old("req_1", &from_now(-2000), ended))
            .await;
        import.refused_field("invalid_field", "files[0].name");
        let id = id(&shell.post(&shell.cue_body("The picture?")).await.json());
        let answered = hub
            .owner
            .resolve(&id, json!({"resolution": "answered", "files": files}))
            .await;
        answered.refused_field("invalid_field", "files[0].name");
    }
}
