//! Requests behind the other views of a client of the Comma Agents daemon. Each gets the reply that the view waits for,
//! or an error with its request id.

use serde_json::{Value, json};

use super::stage::*;
use crate::harness::*;

/// The frames such a client sends when it connects and opens its views, with the replies of a hub without models.
fn lists() -> Vec<(Value, Value)> {
    vec![
        (
            json!({"type": "list_runs", "cwd": "/w"}),
            json!({"type": "run_list", "runs": []}),
        ),
        (
            json!({"type": "list_mcp_servers", "cwd": "/w"}),
            json!({"type": "mcp_server_list", "servers": []}),
        ),
        (
            json!({"type": "list_providers"}),
            json!({"type": "provider_list", "providers": []}),
        ),
        (
            json!({"type": "list_providers", "live": true, "scope": "s"}),
            json!({"type": "provider_list", "providers": []}),
        ),
        (
            json!({"type": "get_available_models"}),
            json!({"type": "available_models", "models": []}),
        ),
        (
            json!({"type": "hub_list"}),
            json!({"type": "hub_packages", "operation": "list", "available": [], "installed": []}),
        ),
        (
            json!({"type": "trash_list", "cwd": "/w"}),
            json!({"type": "trash_list_result", "workspaces": [], "totalEntries": 0, "totalBytes": 0}),
        ),
        (
            json!({"type": "trash_clear"}),
            json!({"type": "trash_clear_result", "cleared": 0, "bytesFreed": 0}),
        ),
    ]
}

/// The reply to a request, without the fields of the envelope.
async fn reply(client: &mut Client, request: Value, kind: &str) -> Value {
    let reply = client.call(request, kind).await;
    without(&without(&reply, "ts"), "requestId")
}

#[tokio::test(flavor = "multi_thread")]
async fn every_list_gets_the_reply_its_view_waits_for() {
    let hub = Hub::start().await;
    let mut client = Client::connect(&hub).await;
    for (request, expected) in lists() {
        let kind = expected["type"].as_str().expect("a type");
        assert_eq!(reply(&mut client, request, kind).await, expected);
    }
    // Some clients send no request id.
    client.send(json!({"type": "list_providers"})).await;
    assert_eq!(
        field_names(&client.expect("provider_list").await),
        ["providers", "ts", "type"]
    );
    client.expect_silence().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hub_with_models_lists_its_named_endpoints_and_no_secrets() {
    let config = r#"
        [llm]
        base_url = "http://127.0.0.1:9/v1"
        api_key = "sk-secret-default"
        [llm.providers.near]
        base_url = "http://127.0.0.1:9/private-path"
        [llm.providers.far]
        base_url = "https://far.example/v1"
        api_key = "sk-secret-far"
    "#;
    let hub = Setup::default().config(config).start().await;
    let mut client = Client::connect(&hub).await;
    let provider = |id: &str, auth_status: &str| {
        json!({"id": id, "name": id, "authStatus": auth_status, "models": [], "modelsSource": "catalog",
               "isCustom": true})
    };
    for (request, mut expected) in lists() {
        if expected["type"] == "provider_list" {
            expected["providers"] = json!([provider("far", "configured"), provider("near", "none")]);
        }
        let kind = expected["type"].as_str().expect("a type");
        assert_eq!(reply(&mut client, request, kind).await, expected);
    }
    client.expect_silence().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_change_the_hub_does_not_offer_is_refused_and_the_connection_survives() {
    let hub = Hub::start().await;
    let mut client = Client::connect(&hub).await;
    for request in [
        json!({"type": "register_provider", "providerId": "openai"}),
        json!({"type": "unregister_provider", "providerId": "openai"}),
        json!({"type": "set_credential", "providerId": "openai", "credentialType": "api", "apiKey": "sk-secret"}),
        json!({"type": "update_mcp_server", "serverId": "files", "enabled": true, "scope": "run", "runId": "r"}),
        json!({"type": "hub_install", "name": "@comma/core-strategies", "allowCode": true}),
        json!({"type": "hub_update", "name": "@comma/core-strategies"}),
        json!({"type": "hub_remove", "name": "@comma/core-strategies"}),
        json!({"type": "trash_restore", "cwd": "/w", "trashPath": "/t.tar.gz", "targetPath": "a.txt"}),
    ] {
        let kind = request["type"].as_str().expect("a type").to_owned();
        let refusal = client.refused(request, "NOT_OFFERED").await;
        assert!(
            refusal.starts_with(&format!("{kind} is not offered by this hub: ")),
            "{refusal}"
        );
        assert!(!refusal.contains("sk-secret"), "{refusal}");
        client.expect_silence().await;
    }
}
