//! Fills the templates. A placeholder is a name in double braces; an unknown one is an error, and none is left.

use anyhow::{Context, Result, bail};
use countersign_protocol::a2h::Kind;

use super::placeholders::value;
use super::settings::{PushSettings, ReturnPath, SkillSettings};

const ASK: &str = include_str!("templates/ask.md");
const NOTIFY: &str = include_str!("templates/notify.md");
const TASK: &str = include_str!("templates/task.md");

const ENDPOINT: &str = include_str!("templates/part-endpoint.md");
const ERRORS: &str = include_str!("templates/part-errors.md");
const EXITS_ASK: &str = include_str!("templates/part-exits-ask.md");
const EXITS_DETACHED: &str = include_str!("templates/part-exits-detached.md");
const EXITS_TASK: &str = include_str!("templates/part-exits-task.md");
const IDENTITY: &str = include_str!("templates/part-identity.md");
const PROOF_ED25519: &str = include_str!("templates/part-proof-ed25519.md");
const PROOF_HMAC: &str = include_str!("templates/part-proof-hmac.md");
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
    Ok(format!("{}\n{body}", settings.front_matter().to_text()))
}

fn part(name: &str, settings: &SkillSettings) -> Option<&'static str> {
    let text = match name {
        "endpoint" => ENDPOINT,
        "errors" => ERRORS,
        "exits" => exits(settings),
        "identity" => IDENTITY,
        "proof" if settings.push().is_some_and(PushSettings::has_shared_key) => PROOF_HMAC,
        "proof" => PROOF_ED25519,
        "prove" => PROVE,
        "receive" => match settings.return_path.as_ref()? {
            ReturnPath::Push(_) => RECEIVE_PUSH,
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
        (Some(ReturnPath::Push(_)), _) => EXITS_DETACHED,
        (_, Kind::Task) => EXITS_TASK,
        (_, Kind::Ask | Kind::Notify) => EXITS_ASK,
    }
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
    use super::super::settings::tests::{every_kind, push, pushed, settings};
    use super::*;
    use crate::args::SignatureAlgArg;

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
    fn a_push_page_checks_with_the_algorithm_of_its_agent() {
        let of = |alg, auth| page(&settings(Kind::Ask, Some(pushed(alg, auth)))).unwrap();
        let hmac = of(SignatureAlgArg::HmacSha256, None);
        let ed25519 = of(SignatureAlgArg::Ed25519, None);
        let named = of(SignatureAlgArg::Ed25519, Some("hmac=env:ACME_HOOK"));
        for (page, flags, other) in [
            (&hmac, "--key-env COUNTERSIGN_SIGNING_KEY", "--ed25519"),
            (&ed25519, "--ed25519 hub", "COUNTERSIGN_SIGNING_KEY"),
            (&named, "--key-env COUNTERSIGN_SIGNING_KEY", "--ed25519"),
        ] {
            assert_eq!(page.matches(flags).count(), 2, "{page}");
            assert!(!page.contains(other), "{page}");
        }
        assert!(named.contains(r#""auth": {"scheme": "hmac", "secret_ref": "env:ACME_HOOK"}"#));
        assert!(named.contains("--callback-auth hmac=env:ACME_HOOK --detach"));
    }

    #[test]
    fn a_page_is_enough_without_this_program() {
        for settings in every_kind().iter().filter(|settings| settings.push().is_some()) {
            let page = page(settings).unwrap();
            for fact in [
                "`agent.project`",
                "`agent.runtime`",
                "`X-API-Key: …`",
                "`auth_schemes`",
                "`secret_ref`",
                "`token_ref`",
                "`signature_algs`",
                "Ed25519",
                "`payload_sha256`",
                "`callback_url`",
                "`resolved_at`",
                "`resolution_id`",
                "t=…,jti=…,v1=…",
                "base64url",
                "±120 s",
                "`jti` that was seen before",
                "`idempotency_key` is REQUIRED",
                "`poll_url` verbatim",
                "CSEALv2.NONCE.CIPHERTEXT.TAG",
                "AAD",
                "12 random bytes",
            ] {
                assert!(page.contains(fact), "{fact}: {page}");
            }
        }
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
            if settings.push().is_some() {
                assert!(page.contains("from the journal, or pulled from the hub with the agent's token"));
                assert!(page.contains("`GET poll_url` (stored there too, used verbatim, with the token)"));
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
