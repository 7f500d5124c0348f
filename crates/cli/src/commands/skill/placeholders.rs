//! The values behind the placeholders of the templates.

use countersign_protocol::a2h::{AuthScheme, CallbackAuth, Kind};
use serde_json::{Value, json};

use super::settings::{PushSettings, SkillSettings, auth_text};
use super::values;

pub fn value(name: &str, settings: &SkillSettings) -> Option<String> {
    let plain = match name {
        "app" => &settings.app,
        "hub" => &settings.hub,
        "agent" => &settings.agent,
        "runtime" => &settings.runtime,
        "token_env" => &settings.token_env,
        "signing_key_env" => &settings.signing_key_env,
        "seal_key_env" => &settings.seal_key_env,
        _ => return derived(name, settings),
    };
    Some(plain.clone())
}

/// Values derived from the settings.
fn derived(name: &str, settings: &SkillSettings) -> Option<String> {
    Some(match name {
        "name" => settings.name(),
        "kind" => settings.kind.to_string(),
        "first_status" => status_at_first(settings.kind).to_owned(),
        "agent_json" => agent_json(settings),
        "identity_flags" => identity_flags(settings),
        "project_words" => settings
            .project
            .as_ref()
            .map(|name| format!("; here `{name}`"))
            .unwrap_or_default(),
        "key_required" => match settings.kind {
            Kind::Notify => "optional here",
            Kind::Ask | Kind::Task => "REQUIRED: without it the hub refuses the message",
        }
        .to_owned(),
        "resolvers_json" => listed(settings, ", ", |person| format!("\"{person}\"")),
        "resolvers_words" => listed(settings, ", ", |person| format!("`{person}`")),
        "to_flags" => listed(settings, " ", |person| format!("--to {person}")),
        "export_lines" => export_lines(settings),
        "response_example" => pretty(&response(settings)),
        "pull_example" => pretty(&pull_example(settings)),
        _ => return of_return_path(name, settings),
    })
}

/// Values that depend on how the outcome comes back.
fn of_return_path(name: &str, settings: &SkillSettings) -> Option<String> {
    let push = settings.push();
    Some(match (name, push) {
        ("callback_member", push) => push
            .map(|push| format!(",\n    \"callback\": {}", callback_json(push)))
            .unwrap_or_default(),
        ("callback_flag", push) => push.map(callback_flag).unwrap_or_default(),
        ("sending", Some(_)) => {
            "keeps the bytes and sends them until they are accepted, and with `--detach` ends then".to_owned()
        }
        ("sending", None) => "keeps the bytes, sends them until they are accepted and waits for the outcome".to_owned(),
        ("key_source", Some(_)) => {
            "from the journal, or pulled from the hub with the agent's token (set as for the command above)".to_owned()
        }
        ("key_source", None) => "it was pulled with it".to_owned(),
        (name, Some(push)) => return of_push(name, settings, push),
        (_, None) => return None,
    })
}

fn of_push(name: &str, settings: &SkillSettings, push: &PushSettings) -> Option<String> {
    Some(match name {
        "callback" => push.callback.clone(),
        "callback_host" => values::host_of(&push.callback).ok()?,
        "callback_json" => callback_json(push),
        "auth_words" => auth_phrase(push),
        "key_flags" if push.has_shared_key() => format!("--key-env {}", settings.signing_key_env),
        "key_flags" => "--ed25519 hub".to_owned(),
        "key_words" => match push.hmac_secret() {
            Some(secret) => format!("; it is the secret that the owner registered as `{secret}`"),
            None => ", with `whsec_` in front: the signing key that `countersign agent add` printed".to_owned(),
        },
        "other_alg" => other_alg(push).to_owned(),
        _ => return None,
    })
}

fn status_at_first(kind: Kind) -> &'static str {
    match kind {
        Kind::Notify => "delivered",
        Kind::Ask | Kind::Task => "open",
    }
}

fn agent_json(settings: &SkillSettings) -> String {
    let project = settings.project.as_ref();
    let project = project
        .map(|name| format!(", \"project\": \"{name}\""))
        .unwrap_or_default();
    format!(
        "{{\"id\": \"{}\", \"run_id\": \"run-7\", \"runtime\": \"{}\"{project}}}",
        settings.agent, settings.runtime
    )
}

fn identity_flags(settings: &SkillSettings) -> String {
    let project = settings.project.as_ref().map(|name| format!(" --project {name}"));
    format!("--runtime {}{}", settings.runtime, project.unwrap_or_default())
}

fn callback_json(push: &PushSettings) -> String {
    let member = |auth: &CallbackAuth| {
        let reference = match auth.scheme {
            AuthScheme::Hmac => "secret_ref",
            AuthScheme::Bearer | AuthScheme::Apikey => "token_ref",
        };
        format!(
            ", \"auth\": {{\"scheme\": \"{}\", \"{reference}\": \"{}\"}}",
            auth.scheme, auth.reference
        )
    };
    let auth = push.auth.as_ref().map(member).unwrap_or_default();
    format!("{{\"mode\": \"push\", \"url\": \"{}\"{auth}}}", push.callback)
}

fn callback_flag(push: &PushSettings) -> String {
    let auth = push
        .auth
        .as_ref()
        .map(|auth| format!(" --callback-auth {}", auth_text(auth)));
    format!(
        " \\\n  --callback '{}'{} --detach",
        push.callback,
        auth.unwrap_or_default()
    )
}

fn auth_phrase(push: &PushSettings) -> String {
    match &push.auth {
        None => "This app leaves it out.".to_owned(),
        Some(auth) => format!(
            "This app uses `{}` with `{}`. The signature is checked in any case.",
            auth.scheme, auth.reference
        ),
    }
}

/// A reader who meets the other algorithm must know what it means.
fn other_alg(push: &PushSettings) -> &'static str {
    if push.has_shared_key() {
        "An agent that was added for Ed25519 (`signature_algs` has both) gets a `v1` that only `signature_keys` of the \
         capability document can verify; this page is then to be built again."
    } else {
        "An agent that was added for HMAC-SHA256 (`signature_algs` has both) gets a `v1` that only its signing key can \
         verify; this page is then to be built again."
    }
}

fn pull_example(settings: &SkillSettings) -> Value {
    let response = response(settings);
    let key = match settings.kind {
        Kind::Task => "renew-certificate-2026",
        Kind::Ask | Kind::Notify => "ship-1.4",
    };
    json!({ "id": response["in_reply_to"], "status": ended(settings.kind), "idempotency_key": key, "response": response })
}

fn listed(settings: &SkillSettings, between: &str, one: impl Fn(&str) -> String) -> String {
    settings
        .resolvers
        .iter()
        .map(|person| one(person))
        .collect::<Vec<_>>()
        .join(between)
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
