//! Fills the templates. A placeholder is a name in double braces; an unknown one is an error, and none is left.

use anyhow::{Context, Result, bail};
use countersign_protocol::a2h::Kind;
use serde_json::{Value, json};

use super::settings::{ReturnPath, SkillSettings};
use super::values;

const ASK: &str = include_str!("templates/ask.md");
const NOTIFY: &str = include_str!("templates/notify.md");
const TASK: &str = include_str!("templates/task.md");

const ENDPOINT: &str = include_str!("templates/part-endpoint.md");
const ERRORS: &str = include_str!("templates/part-errors.md");
const EXITS_ASK: &str = include_str!("templates/part-exits-ask.md");
const EXITS_DETACHED: &str = include_str!("templates/part-exits-detached.md");
const EXITS_TASK: &str = include_str!("templates/part-exits-task.md");
const PROVE: &str = include_str!("templates/part-prove.md");
const RECEIVE_PULL: &str = include_str!("templates/part-receive-pull.md");
const RECEIVE_PUSH: &str = include_str!("templates/part-receive-push.md");
const REPLAY: &str = include_str!("templates/part-replay.md");
const RESOLVERS: &str = include_str!("templates/part-resolvers.md");
const RESUME: &str = include_str!("templates/part-resume.md");
const STATE: &str = include_str!("templates/part-state.md");

/// Templates contain parts, the `resume` part is inside a part, and values can be anywhere.
const MAX_DEPTH: usize = 3;

/// The whole SKILL.md.
pub fn page(settings: &SkillSettings) -> Result<String> {
    let template = match settings.kind {
        Kind::Ask => ASK,
        Kind::Notify => NOTIFY,
        Kind::Task => TASK,
    };
    let known = |name: &str| {
        part(name, settings)
            .map(str::to_owned)
            .or_else(|| value(name, settings))
    };
    let body = fill(template, &known, MAX_DEPTH)?;
    Ok(format!("{}\n{body}", settings.front().to_text()))
}

fn part(name: &str, settings: &SkillSettings) -> Option<&'static str> {
    let text = match name {
        "endpoint" => ENDPOINT,
        "errors" => ERRORS,
        "exits" => exits(settings),
        "prove" => PROVE,
        "receive" => match settings.return_path.as_ref()? {
            ReturnPath::Push { .. } => RECEIVE_PUSH,
            ReturnPath::Pull => RECEIVE_PULL,
        },
        "replay" => REPLAY,
        "resolvers" => RESOLVERS,
        "resume" => RESUME,
        "state" => STATE,
        _ => return None,
    };
    Some(text.trim_end())
}

/// A detached command exits before there is an outcome.
fn exits(settings: &SkillSettings) -> &'static str {
    match (&settings.return_path, settings.kind) {
        (Some(ReturnPath::Push { .. }), _) => EXITS_DETACHED,
        (_, Kind::Task) => EXITS_TASK,
        (_, Kind::Ask | Kind::Notify) => EXITS_ASK,
    }
}

fn value(name: &str, settings: &SkillSettings) -> Option<String> {
    let plain = match name {
        "app" => &settings.app,
        "hub" => &settings.hub,
        "agent" => &settings.agent,
        "token_env" => &settings.token_env,
        "signing_key_env" => &settings.signing_key_env,
        "seal_key_env" => &settings.seal_key_env,
        _ => return derived(name, settings),
    };
    Some(plain.clone())
}

/// Values derived from the settings.
fn derived(name: &str, settings: &SkillSettings) -> Option<String> {
    let callback = match &settings.return_path {
        Some(ReturnPath::Push { callback }) => Some(callback.as_str()),
        Some(ReturnPath::Pull) | None => None,
    };
    Some(match name {
        "name" => settings.name(),
        "kind" => settings.kind.to_string(),
        "first_status" => if settings.kind == Kind::Notify {
            "delivered"
        } else {
            "open"
        }
        .to_owned(),
        "resolvers_json" => listed(settings, ", ", |person| format!("\"{person}\"")),
        "resolvers_words" => listed(settings, ", ", |person| format!("`{person}`")),
        "to_flags" => listed(settings, " ", |person| format!("--to {person}")),
        "callback" => callback?.to_owned(),
        "callback_host" => values::host_of(callback?).ok()?,
        "callback_member" => callback.map(callback_member).unwrap_or_default(),
        "callback_flag" => callback
            .map(|url| format!(" \\\n  --callback '{url}' --detach"))
            .unwrap_or_default(),
        "sending" => match callback {
            Some(_) => "keeps the bytes and sends them until they are accepted, and with `--detach` ends then",
            None => "keeps the bytes, sends them until they are accepted and waits for the outcome",
        }
        .to_owned(),
        "key_source" => match callback {
            Some(_) => "from the journal, or pulled from the hub with the agent's token (set as for the command above)",
            None => "it was pulled with it",
        }
        .to_owned(),
        "export_lines" => export_lines(settings),
        "response_example" => pretty(&response(settings)),
        "pull_example" => {
            let id = &response(settings)["in_reply_to"];
            let key = if settings.kind == Kind::Task {
                "renew-certificate-2026"
            } else {
                "ship-1.4"
            };
            let status = ended(settings.kind);
            pretty(&json!({ "id": id, "status": status, "idempotency_key": key, "response": response(settings) }))
        }
        _ => return None,
    })
}

fn listed(settings: &SkillSettings, between: &str, one: impl Fn(&str) -> String) -> String {
    settings
        .resolvers
        .iter()
        .map(|person| one(person))
        .collect::<Vec<_>>()
        .join(between)
}

fn callback_member(url: &str) -> String {
    format!(",\n    \"callback\": {{\"mode\": \"push\", \"url\": \"{url}\"}}")
}

/// The commands read fixed variable names; an app with other names exports them.
fn export_lines(settings: &SkillSettings) -> String {
    let hub = &settings.hub;
    let agent = &settings.agent;
    let token = export("COUNTERSIGN_TOKEN", &settings.token_env);
    format!("export COUNTERSIGN_URL='{hub}' COUNTERSIGN_AGENT='{agent}'\n{token}")
        .trim_end()
        .to_owned()
}

fn export(read: &str, kept: &str) -> String {
    if read == kept {
        String::new()
    } else {
        format!("export {read}=\"${kept}\"\n")
    }
}

fn ended(kind: Kind) -> &'static str {
    match kind {
        Kind::Ask => "answered",
        Kind::Task => "completed",
        Kind::Notify => "delivered",
    }
}

fn response(settings: &SkillSettings) -> Value {
    let actor = settings.resolvers.first();
    let mut inner = json!({ "actor": actor, "resolved_at": "2026-11-15T10:02:11.268Z", "comment": "go ahead" });
    match settings.kind {
        Kind::Ask => {
            inner["value"] = "approve".into();
            inner["edited"] = false.into();
        }
        Kind::Task => {
            inner["checklist"] =
                json!([{"text": "Certificate ordered", "done": true}, {"text": "Stored in the vault", "done": true}]);
        }
        Kind::Notify => {}
    }
    json!({
        "a2h_version": "0.3",
        "in_reply_to": "msg_01m7gptxn6eh8aa11h8z5bhb8q",
        "resolution_id": "res_62yefcn04d8x3b11f8r3vkq5x4",
        "agent": {"id": settings.agent, "run_id": "run-7"},
        "resolution": ended(settings.kind),
        "defaulted": false,
        "response": inner,
        "state": {"sealed": "CSEALv2.NONCE.CIPHERTEXT.TAG"},
    })
}

fn pretty(value: &Value) -> String {
    format!("{value:#}")
}

fn fill(template: &str, lookup: &dyn Fn(&str) -> Option<String>, depth: usize) -> Result<String> {
    let mut text = String::with_capacity(template.len() * 2);
    let mut rest = template;
    while let Some((before, after)) = rest.split_once("{{") {
        let (name, after) = after.split_once("}}").context("a placeholder is not closed")?;
        let value = lookup(name).with_context(|| format!("the placeholder {name:?} is unknown"))?;
        text.push_str(before);
        match depth.checked_sub(1) {
            Some(depth) => text.push_str(&fill(&value, lookup, depth)?),
            None if value.contains("{{") => bail!("the placeholder {name:?} is nested too deeply"),
            None => text.push_str(&value),
        }
        rest = after;
    }
    text.push_str(rest);
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::super::settings::tests::{every_kind, push, settings};
    use super::*;

    #[test]
    fn every_kind_of_page_has_all_of_its_values() {
        for settings in every_kind() {
            let page = page(&settings).unwrap();
            assert!(!page.contains("{{"), "{page}");
            assert!(page.contains("acme/deployer") && page.contains("https://hub.example/v1/messages"));
        }
    }

    #[test]
    fn a_push_page_verifies_and_a_pull_page_does_not() {
        let push = page(&settings(Kind::Ask, Some(push()))).unwrap();
        assert!(
            push.contains("A2H-Signature")
                && push.contains("countersign agent callback approve acme/deployer hooks.example")
        );
        assert!(push.contains("COUNTERSIGN_SIGNING_KEY"));
        let pull = page(&settings(Kind::Ask, Some(ReturnPath::Pull))).unwrap();
        assert!(!pull.contains("A2H-Signature") && !pull.contains("COUNTERSIGN_SIGNING_KEY"));
        assert!(pull.contains("countersign wait"));
    }

    #[test]
    fn a_page_mentions_waiting_only_where_the_command_waits() {
        for kind in [Kind::Ask, Kind::Task] {
            let push = page(&settings(kind, Some(push()))).unwrap();
            assert!(push.contains("--detach\n") && !push.contains("and waits"), "{push}");
            assert!(!push.contains("still open when `--timeout` ended"));
            let pull = page(&settings(kind, Some(ReturnPath::Pull))).unwrap();
            assert!(
                !pull.contains("--detach") && pull.contains("waits for the outcome"),
                "{pull}"
            );
            assert!(pull.contains("still open when `--timeout` ended"));
        }
    }

    #[test]
    fn a_page_says_where_a_new_process_gets_the_key() {
        for settings in every_kind().iter().filter(|settings| settings.return_path.is_some()) {
            let page = page(settings).unwrap();
            assert!(page.contains("--bind acme/deployer \"$(jq -r .idempotency_key \"$outcome\")\" <"));
            if let Some(ReturnPath::Push { .. }) = settings.return_path {
                assert!(page.contains("from the journal, or pulled from the hub with the agent's token"));
                assert!(page.contains("`https://hub.example/v1/messages/` and then `in_reply_to`, with the token"));
            }
        }
    }

    #[test]
    fn secrets_under_other_names_are_exported() {
        let page = page(&settings(Kind::Ask, Some(ReturnPath::Pull))).unwrap();
        assert!(page.contains("export COUNTERSIGN_TOKEN=\"$ACME_TOKEN\""));
        assert!(!page.contains("COUNTERSIGN_SIGNING_KEY="));
    }

    #[test]
    fn an_unknown_or_open_placeholder_is_an_error() {
        let lookup = |name: &str| (name == "known").then(|| "value".to_owned());
        assert_eq!(fill("a {{known}} b", &lookup, 1).unwrap(), "a value b");
        assert!(fill("a {{unknown}} b", &lookup, 1).is_err());
        assert!(fill("a {{known", &lookup, 1).is_err());
        assert!(fill("{{endless}}", &|_| Some("{{endless}}".to_owned()), 3).is_err());
    }
}
