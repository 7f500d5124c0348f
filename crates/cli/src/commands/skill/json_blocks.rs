//! The JSON examples of a page. Readers copy them, so the hub must accept each one.

use anyhow::{Context, Result, bail};
use countersign_core::envelope::content;
use countersign_protocol::a2h::{CallbackMode, Envelope, Kind};
use countersign_protocol::json;
use serde_json::Value;

use super::settings::{PushSettings, SkillSettings};

const OPEN: &str = "```json";
const CLOSE: &str = "```";

/// The text of every block marked as JSON.
fn blocks(page: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut lines = page.lines();
    while let Some(line) = lines.next() {
        if line.trim() == OPEN {
            let inner: Vec<&str> = lines.by_ref().take_while(|line| line.trim() != CLOSE).collect();
            found.push(inner.join("\n"));
        }
    }
    found
}

/// The faults of a page's examples.
pub fn faults(page: &str, settings: &SkillSettings) -> Vec<String> {
    let mut faults = Vec::new();
    let mut envelopes: Vec<Value> = Vec::new();
    let mut requests = Vec::new();
    for (number, block) in blocks(page).iter().enumerate() {
        match json::parse(block.as_bytes()) {
            Err(error) => faults.push(format!("JSON example {}: {error}", number + 1)),
            Ok(value) if value.get("type").is_some() => envelopes.push(value),
            Ok(value) if value.get("mode").is_some() => requests.push(value),
            Ok(_) => {}
        }
    }
    let Some(first) = envelopes.first().cloned() else {
        faults.push(format!("there is no JSON example of {}", an_envelope(settings.kind)));
        return faults;
    };
    // A request without an envelope is checked inside the first envelope.
    envelopes.extend(requests.into_iter().map(|request| {
        let mut envelope = first.clone();
        envelope["request"] = request;
        envelope
    }));
    faults.extend(envelopes.into_iter().filter_map(|envelope| {
        let wrong = check(envelope, settings).err()?;
        Some(format!("an example of {}: {wrong:#}", an_envelope(settings.kind)))
    }));
    faults
}

fn an_envelope(kind: Kind) -> &'static str {
    match kind {
        Kind::Ask => "an ask",
        Kind::Notify => "a notify",
        Kind::Task => "a task",
    }
}

fn check(value: Value, settings: &SkillSettings) -> Result<()> {
    let envelope = Envelope::from_value(value)?;
    let kind = envelope.payload.kind();
    if kind != settings.kind {
        bail!("`type` is {kind}, but the skill is for {}", an_envelope(settings.kind));
    }
    if envelope.agent.id != settings.agent {
        bail!("`agent.id` is not {}", settings.agent);
    }
    let routing = envelope.payload.routing();
    if let Some(routing) = routing {
        let named = routing.allowed_resolvers.as_ref();
        let named = named.context("`allowed_resolvers` is missing, so no person could answer")?;
        if named.is_empty() || !named.iter().all(|person| settings.resolvers.contains(person)) {
            bail!("`allowed_resolvers` must name only people listed in the front matter");
        }
    }
    let callback = routing.and_then(|routing| routing.callback.as_ref());
    if let Some(callback) = callback.filter(|callback| callback.mode == CallbackMode::Push) {
        let is_same = |push: &PushSettings| callback.url.as_ref() == Some(&push.callback) && callback.auth == push.auth;
        if !settings.push().is_some_and(is_same) {
            bail!("`callback` is not the one of the front matter");
        }
    }
    Ok(content(envelope).check()?)
}

#[cfg(test)]
mod tests {
    use super::super::render::page;
    use super::super::settings::tests::{push, settings};
    use super::*;

    fn ask() -> SkillSettings {
        settings(Kind::Ask, Some(push()))
    }

    #[test]
    fn blocks_are_found_and_only_those_of_json() {
        let text = "```sh\n{\n```\n\n```json\n{\"a\":1}\n```\n  ```json\n  [2]\n  ```\n";
        assert_eq!(blocks(text), ["{\"a\":1}", "  [2]"]);
    }

    #[test]
    fn examples_that_a_hub_would_refuse_are_named() {
        let good = page(&ask()).unwrap();
        assert_eq!(faults(&good, &ask()), Vec::<String>::new());
        for (from, to) in [
            (
                "\"a2h_version\": \"0.3\",\n  \"type\"",
                "\"a2h_version\": 0.3,\n  \"type\"",
            ),
            ("\"idempotency_key\": \"ship-1.4\",\n", ""),
            ("\"default_on_expire\": \"deny\"", "\"default_on_expire\": \"wait\""),
            ("\"human:ann\", \"human:bob\"", "\"human:*\""),
            (
                "\"id\": \"acme/deployer\", \"run_id\": \"run-7\", \"runtime\"",
                "\"id\": \"other\", \"run_id\": \"run-7\", \"runtime\"",
            ),
            (
                "https://hooks.example/acme/resume\"}\n  }",
                "https://elsewhere.example/\"}\n  }",
            ),
            ("\"minimum\": 1,", "\"minimum\": 1"),
            ("\"maxLength\": 200", "\"maxLength\": \"many\""),
        ] {
            let bad = good.replace(from, to);
            assert_ne!(bad, good, "{from}");
            assert!(!faults(&bad, &ask()).is_empty(), "{to}");
        }
        assert_eq!(faults("# Nothing\n", &ask()).len(), 1);
    }
}
