//! Who can reach the hub, who can answer, and which agents have used it.

use countersign_protocol::api::admin::{HubStatus, ListedAgent, ListedPerson};
use reqwest::Url;

use super::Finding;

const VIEWER: &str = "viewer";

/// Staying on this machine is the default and no fault.
pub fn reach(status: &HubStatus) -> Finding {
    let address = status.public_url.as_deref().unwrap_or(&status.url);
    let url = Url::parse(address).ok();
    let host = url.as_ref().and_then(Url::host_str).unwrap_or_default();
    let is_here = matches!(host, "localhost" | "127.0.0.1" | "[::1]" | "");
    let message = if is_here {
        "reachable from other machines: no (`countersign serve --lan`, or a proxy and --public-url)".to_owned()
    } else {
        format!("reachable from other machines: yes, at {address}")
    };
    Finding::ok("reach", message)
}

pub fn people_who_can_answer(people: Vec<ListedPerson>) -> Finding {
    let names: Vec<&str> = people
        .iter()
        .filter(|person| person.role != VIEWER)
        .map(|person| person.name.as_str())
        .collect();
    match names.len() {
        0 => Finding::fail(
            "people",
            "no person can answer",
            "`countersign person add NAME --role resolver`",
        ),
        count => Finding::ok(
            "people",
            format!("people who can answer: {count} ({})", names.join(", ")),
        ),
    }
}

pub fn agents_without_token(agents: &[ListedAgent]) -> Finding {
    let silent = ids(agents, |agent| agent.tokens == 0);
    if silent.is_empty() {
        return Finding::ok("agents", "every agent has a token");
    }
    let message = format!("agents without a token cannot ask: {silent}");
    Finding::warn("agents", message, "`countersign agent rotate ID` makes one")
}

/// An agent may be new, so this is only told.
pub fn agents_that_never_called(agents: &[ListedAgent]) -> Finding {
    let silent = ids(agents, |agent| agent.seen_at.is_none());
    let message = if silent.is_empty() {
        "every agent has called".to_owned()
    } else {
        format!("agents that never called: {silent}")
    };
    Finding::ok("agent_calls", message)
}

fn ids(agents: &[ListedAgent], wanted: impl Fn(&ListedAgent) -> bool) -> String {
    let ids: Vec<&str> = agents
        .iter()
        .filter(|agent| wanted(agent))
        .map(|agent| agent.agent_id.as_str())
        .collect();
    ids.join(", ")
}

#[cfg(test)]
mod tests {
    use serde_json::{from_value, json};

    use super::super::Level;
    use super::*;
    use crate::commands::local_hub::tests::person;

    #[test]
    fn a_hub_on_loopback_says_that_it_stays_there() {
        let told = |status| reach(&from_value(status).unwrap()).message;
        let local = json!({"version": "1", "url": "http://127.0.0.1:7422"});
        assert!(told(local).contains(": no"));
        let public = json!({"version": "1", "url": "http://127.0.0.1:7422", "public_url": "https://hub.example"});
        assert!(told(public).contains("yes, at https://hub.example"));
    }

    #[test]
    fn a_hub_without_people_who_can_answer_fails() {
        let some = people_who_can_answer(vec![person("ann", "resolver"), person("bob", "viewer")]);
        assert_eq!(some.message, "people who can answer: 1 (ann)");
        assert_eq!(people_who_can_answer(vec![person("bob", "viewer")]).level, Level::Fail);
    }

    #[test]
    fn agents_that_never_called_are_named() {
        let agent = |id: &str, seen: Option<&str>| {
            from_value(json!({
                "agent_id": id, "signature_alg": "hmac-sha256", "created_at": "2026-06-04T15:00:00.000Z", "tokens": 1,
                "signing_keys": 1, "open": 0, "seen_at": seen,
            }))
            .unwrap()
        };
        let agents = [agent("a", None), agent("b", Some("2026-06-04T15:00:00.000Z"))];
        assert_eq!(agents_that_never_called(&agents).message, "agents that never called: a");
        assert_eq!(agents_that_never_called(&agents[1..]).message, "every agent has called");
    }
}
