use std::net::SocketAddr;
use std::sync::Arc;

use anyhow::{Result, ensure};
use serde_json::{Value, json};

use crate::load::{Connection, PLACEHOLDER, Slot, Slots, Template, Work, render};
use crate::process::{Agent, Hub};

/// The exact size of an ask, without a callback.
const ASK_BYTES: usize = 1024;
const ANSWER: &str = r#"{"resolution":"answered","value":"approve"}"#;
pub const LIST_PATH: &str = "/v1/inbox?limit=50";

pub fn submit(agent: &Agent, slots: impl Into<Arc<Slots>>) -> Work {
    submit_with(agent, slots, ask(&agent.id))
}

pub fn submit_with_callback(agent: &Agent, slots: Slots, receiver: SocketAddr) -> Work {
    let mut message = ask(&agent.id);
    message["request"]["callback"] = json!({ "mode": "push", "url": format!("http://{receiver}/answers") });
    submit_with(agent, slots, message)
}

fn submit_with(agent: &Agent, slots: impl Into<Arc<Slots>>, message: Value) -> Work {
    let request = render("POST", "/v1/messages", Some(&agent.token), Some(&message.to_string()));
    Work::new(Template::new(request), slots, 202)
}

pub fn resolve(hub: &Hub, ids: impl Into<Arc<Slots>>) -> Work {
    Work::new(answer_template(hub), ids, 200)
}

pub fn answer_template(hub: &Hub) -> Template {
    let path = format!("/v1/messages/{PLACEHOLDER}/resolve");
    Template::new(render("POST", &path, Some(hub.owner_token()), Some(ANSWER)))
}

pub fn pull(agent: &Agent, ids: Vec<Slot>) -> Work {
    let path = format!("/v1/messages/{PLACEHOLDER}");
    Work::new(
        Template::new(render("GET", &path, Some(&agent.token), None)),
        Slots::ids(ids),
        200,
    )
}

pub fn list_inbox(hub: &Hub, times: impl Into<Arc<Slots>>) -> Work {
    let request = render("GET", LIST_PATH, Some(hub.owner_token()), None);
    Work::new(Template::new(request), times, 200)
}

/// A page, requested like a signed-in browser whose person opens it.
pub fn page(path: &str, cookie: &str, times: u64) -> Work {
    let request = format!(
        "GET {path} HTTP/1.1\r\nhost: 127.0.0.1\r\ncookie: {cookie}\r\naccept-encoding: gzip, deflate, br, zstd\r\n\
         sec-fetch-mode: navigate\r\nsec-fetch-site: none\r\n\r\n"
    );
    Work::new(Template::new(request.into_bytes()), Slots::keys(times), 200)
}

/// Submits one ask with the given title.
pub async fn ask_titled(hub: &Hub, agent: &Agent, title: &str) -> Result<()> {
    let mut message = ask(&agent.id);
    message["title"] = title.into();
    message["idempotency_key"] = title.into();
    let address = hub.target.address;
    let (status, reply) = Connection::call(address, "POST", "/v1/messages", Some(&agent.token), Some(message)).await?;
    ensure!(status == 202, "the ask was refused with {status}: {reply}");
    Ok(())
}

/// Sends the same kilobyte of JSON to `path` of the ceiling.
pub fn to_ceiling(path: &str, slots: Slots) -> Work {
    let request = render("POST", path, None, Some(&ask("bench").to_string()));
    Work::new(Template::new(request), slots, 200)
}

pub fn wake_template() -> Template {
    Template::new(render("POST", &format!("/wake/{PLACEHOLDER}"), None, Some(ANSWER)))
}

/// A confirm question, as an agent would ask it before a deployment.
fn ask(agent_id: &str) -> Value {
    let mut message = json!({
        "a2h_version": "0.3",
        "type": "ask",
        "created_at": "2026-11-15T12:00:00Z",
        "agent": { "id": agent_id, "run_id": "run-1", "runtime": "cli", "project": "bench" },
        "title": "Deploy build 4711 to production?",
        "body": "",
        "priority": "normal",
        "tags": ["deploy", "production"],
        "context": [{ "kind": "data", "data": { "build": 4711, "tests": { "passed": 1893, "failed": 0 } } }],
        "state": { "step": 7, "branch": "main" },
        "idempotency_key": PLACEHOLDER,
        "request": { "mode": "confirm", "allowed_resolvers": ["human:owner"] }
    });
    let missing = ASK_BYTES.saturating_sub(message.to_string().len());
    let text: String = "All checks are green and the change is small. "
        .chars()
        .cycle()
        .take(missing)
        .collect();
    message["body"] = Value::String(text);
    message
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_ask_is_a_kilobyte() {
        assert_eq!(ask("bench").to_string().len(), ASK_BYTES);
    }
}
