//! The types of `protocol::api` read every reply of their routes, and write the same bytes again.

use countersign_protocol::api::admin::{
    AgentRef, AgentSecret, AgentsList, AuditTrail, CallbacksList, DeliveriesList, EndedToken, HubStatus,
    IssuedCredentials, KeysList, ListedCallback, NewAccess, PeopleList, PersonRef, RenamedAgent, RetriedDelivery,
    SecretsList, SignInLink, TokensList,
};
use countersign_protocol::api::inbox::{Item, ItemsPage, MessageRef, MessagesPage, Presets};
use countersign_protocol::api::runs::{RunDetails, RunsPage};
use countersign_protocol::api::terminals::{QueuedTextRef, QueuedTexts, TerminalsList};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

type SentItem = Item<Value, Value>;

pub fn check((method, path): (&str, &str), body: &[u8]) {
    match (method, path) {
        ("get", "/v1/inbox" | "/v1/inbox/aside" | "/v1/notices" | "/v1/search" | "/v1/decided") => {
            read::<ItemsPage<Item>>(body);
            check_bytes::<ItemsPage<SentItem>>(body);
        }
        ("get", "/v1/messages") => check_bytes::<MessagesPage<SentItem>>(body),
        ("get", "/v1/inbox/{id}") => {
            read::<Item>(body);
            check_bytes::<SentItem>(body);
        }
        (
            "post",
            "/v1/inbox/{id}/aside" | "/v1/inbox/{id}/archive" | "/v1/inbox/{id}/return" | "/v1/inbox/{id}/undo",
        ) => {
            check_bytes::<MessageRef>(body);
        }
        ("get", "/v1/presets") => check_bytes::<Presets>(body),
        ("get", "/v1/terminals") => check_bytes::<TerminalsList>(body),
        ("get", "/v1/terminals/{agent_id}/ahead") => check_bytes::<QueuedTexts>(body),
        ("post", "/v1/terminals/{agent_id}/ahead") => check_bytes::<QueuedTextRef>(body),
        ("get", "/v1/runs") => check_bytes::<RunsPage>(body),
        ("get", "/v1/runs/{id}") => check_bytes::<RunDetails>(body),
        (_, path) if path.starts_with("/v1/admin/") => check_admin((method, path), body),
        ("post", "/v1/callbacks") => check_bytes::<ListedCallback>(body),
        _ => {}
    }
}

fn check_admin((method, path): (&str, &str), body: &[u8]) {
    match (method, path.trim_start_matches("/v1/admin/")) {
        ("get", "agents") => check_bytes::<AgentsList>(body),
        ("post", "agents" | "agents/rotate") => check_bytes::<IssuedCredentials>(body),
        ("post", "agents/rename") => check_bytes::<RenamedAgent>(body),
        ("post", "agents/remove") => check_bytes::<AgentRef>(body),
        ("get", "callbacks") => check_bytes::<CallbacksList>(body),
        ("post", "callbacks" | "callbacks/approve" | "callbacks/remove") => check_bytes::<ListedCallback>(body),
        ("get", "secrets") => check_bytes::<SecretsList>(body),
        ("post", "secrets" | "secrets/remove") => check_bytes::<AgentSecret>(body),
        ("get", "people") => check_bytes::<PeopleList>(body),
        ("post", "people" | "people/token") => check_bytes::<NewAccess>(body),
        ("post", "people/remove") => check_bytes::<PersonRef>(body),
        ("post", "people/link") => check_bytes::<SignInLink>(body),
        ("get", "people/tokens") => check_bytes::<TokensList>(body),
        ("post", "people/tokens/end") => check_bytes::<EndedToken>(body),
        ("get", "deliveries") => check_bytes::<DeliveriesList>(body),
        ("post", "deliveries/retry") => check_bytes::<RetriedDelivery>(body),
        ("get", "audit") => check_bytes::<AuditTrail>(body),
        ("post", "keys/rotate") => check_bytes::<KeysList>(body),
        ("get", "status") => check_bytes::<HubStatus>(body),
        route => panic!("no type for {route:?}"),
    }
}

fn read<T: DeserializeOwned>(body: &[u8]) -> T {
    serde_json::from_slice(body).unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(body)))
}

fn check_bytes<T: Serialize + DeserializeOwned>(body: &[u8]) {
    let written = serde_json::to_string(&read::<T>(body)).expect("JSON");
    assert_eq!(written, String::from_utf8_lossy(body));
}
