//! Requests behind the other views of a client (providers, models, MCP servers, packages, trash), which the hub answers
//! with what it has or refuses.

use countersign_protocol::runs::{AuthStatus, ClientMessage, Provider, RunReply};
use countersign_protocol::time::Timestamp;
use serde_json::{Value, json};

use crate::messages::read_message;

fn message(value: &Value) -> ClientMessage {
    read_message(value).unwrap().message
}

/// A client sends more fields with these lists; none of them can make the reply fail.
#[test]
fn lists_for_other_views_ignore_their_filters() {
    for (frame, expected) in [
        (
            json!({"type": "list_providers", "scope": "", "live": true}),
            ClientMessage::ListProviders,
        ),
        (
            json!({"type": "get_available_models", "modelId": "a/b", "scope": 7}),
            ClientMessage::GetAvailableModels,
        ),
        (
            json!({"type": "list_mcp_servers", "cwd": "/w", "runId": "r", "strategyPath": "/s.json"}),
            ClientMessage::ListMcpServers,
        ),
        (json!({"type": "trash_list", "cwd": "/w"}), ClientMessage::TrashList),
        (json!({"type": "trash_clear", "cwd": "/w"}), ClientMessage::TrashClear),
    ] {
        assert_eq!(message(&frame), expected, "{frame}");
    }
}

#[test]
fn what_the_hub_does_not_offer_is_refused_with_the_way_to_the_same_end() {
    for (kind, instead) in [
        ("register_provider", "[llm]"),
        ("unregister_provider", "[llm]"),
        ("set_credential", "[llm]"),
        ("update_mcp_server", "mcpServers"),
        ("hub_install", "prepare_run"),
        ("hub_update", "prepare_run"),
        ("hub_remove", "prepare_run"),
        ("trash_restore", "no trash"),
    ] {
        for more in [
            json!({}),
            json!({"providerId": "p", "apiKey": "sk-1", "name": "@a/b", "cwd": ""}),
        ] {
            let mut frame = more;
            frame["type"] = json!(kind);
            frame["requestId"] = json!("q");
            let refused = read_message(&frame).unwrap_err();
            assert_eq!(
                (refused.code, refused.request_id.as_deref()),
                ("NOT_OFFERED", Some("q"))
            );
            let begin = format!("{kind} is not offered by this hub: ");
            assert!(refused.message.starts_with(&begin), "{}", refused.message);
            assert!(refused.message.contains(instead), "{}", refused.message);
            assert!(!refused.message.contains("sk-1"), "{}", refused.message);
        }
    }
}

#[test]
fn replies_have_exactly_the_fields_of_the_protocol() {
    let near = Provider::configured("near", AuthStatus::Configured);
    let open = Provider::configured("open", AuthStatus::None);
    for (reply, mut fields) in [
        (
            RunReply::ProviderList {
                providers: vec![near, open],
            },
            json!({"type": "provider_list", "providers": [
                {"id": "near", "name": "near", "authStatus": "configured", "models": [], "modelsSource": "catalog",
                 "isCustom": true},
                {"id": "open", "name": "open", "authStatus": "none", "models": [], "modelsSource": "catalog",
                 "isCustom": true},
            ]}),
        ),
        (RunReply::NO_MODELS, json!({"type": "available_models", "models": []})),
        (
            RunReply::NO_MCP_SERVERS,
            json!({"type": "mcp_server_list", "servers": []}),
        ),
        (
            RunReply::NO_PACKAGES,
            json!({"type": "hub_packages", "operation": "list", "available": [], "installed": []}),
        ),
        (
            RunReply::EMPTY_TRASH,
            json!({"type": "trash_list_result", "workspaces": [], "totalEntries": 0, "totalBytes": 0}),
        ),
        (
            RunReply::NOTHING_CLEARED,
            json!({"type": "trash_clear_result", "cleared": 0, "bytesFreed": 0}),
        ),
    ] {
        let frame = reply.frame(Timestamp::from_millis(1_780_588_110_250), Some("q1"));
        fields["ts"] = json!("2026-06-04T15:48:30.250Z");
        fields["requestId"] = json!("q1");
        assert_eq!(serde_json::from_str::<Value>(&frame).unwrap(), fields);
        assert_eq!(serde_json::from_str::<RunReply>(&frame).unwrap(), reply);
    }
}
