//! Builds the settings from flags; missing values are asked for at a terminal, else reported all at once.

use std::path::PathBuf;

use anyhow::{Context, Result, bail};
use countersign_protocol::a2h::Kind;

use super::prompt::TerminalPrompt;
use super::setting_prompts::{
    AGENT, APP, CALLBACK, DEFAULT_ALG, HUB, KIND, MODE, OUT, OWNER, RESOLVERS, SEAL_KEY_ENV, SIGNATURE_ALG,
    SIGNING_KEY_ENV, SettingPrompt, TOKEN_ENV,
};
use super::settings::{DEFAULT_RUNTIME, PushSettings, ReturnPath, SkillSettings};
use super::values;
use crate::args::{BuildArgs, ReturnMode, SignatureAlgArg, SkillKind};
use crate::commands::local_hub::KnownAgents;

#[derive(Debug, PartialEq)]
pub struct BuildPlan {
    pub settings: SkillSettings,
    pub out: PathBuf,
    /// The assumed values, as text: they must be reviewed before the skill is used.
    pub assumed: Vec<String>,
}

/// The source of values, with the list of missing and assumed ones.
struct SettingSource<'a> {
    prompt: Option<TerminalPrompt<'a>>,
    missing: Vec<&'static str>,
    assumed: Vec<String>,
}

impl SettingSource<'_> {
    fn get<T>(&mut self, given: Option<&str>, wanted: &SettingPrompt<T>) -> Result<Option<T>> {
        self.get_or(given, wanted, None)
    }

    /// At a terminal `better` is offered instead of the usual default.
    fn get_or<T>(&mut self, given: Option<&str>, wanted: &SettingPrompt<T>, better: Option<&str>) -> Result<Option<T>> {
        match (given, &mut self.prompt) {
            (Some(text), _) => (wanted.check)(text).with_context(|| wanted.flag.to_owned()).map(Some),
            (None, Some(prompt)) => prompt
                .ask(wanted.question, better.or(wanted.default), wanted.check)
                .map(Some),
            (None, None) => {
                self.missing.push(wanted.flag);
                Ok(None)
            }
        }
    }

    /// Without a terminal `stand_in` is used and reported as assumed.
    fn assume<T>(&mut self, given: Option<&str>, wanted: &SettingPrompt<T>, stand_in: &str) -> Result<Option<T>> {
        if given.is_some() || self.prompt.is_some() {
            return self.get(given, wanted);
        }
        self.assumed.push(format!("{stand_in} ({})", wanted.flag));
        (wanted.check)(stand_in).map(Some)
    }

    /// A variable name has a default: it is used without a terminal, and a name that is not needed is not asked for.
    fn variable(&mut self, given: Option<&str>, wanted: &SettingPrompt<String>, needed: bool) -> Result<String> {
        let otherwise = wanted.default.unwrap_or_default();
        match (given, &mut self.prompt) {
            (Some(name), _) => (wanted.check)(name).with_context(|| wanted.flag.to_owned()),
            (None, Some(prompt)) if needed => prompt.ask(wanted.question, wanted.default, wanted.check),
            (None, _) => Ok(otherwise.to_owned()),
        }
    }
}

pub fn collect_settings(
    args: &BuildArgs,
    known: &KnownAgents,
    prompt: Option<TerminalPrompt<'_>>,
) -> Result<BuildPlan> {
    let source = &mut SettingSource {
        prompt,
        missing: Vec::new(),
        assumed: Vec::new(),
    };
    let given = match args.kind {
        Some(kind) => Some(self::kind(kind)),
        None => source.get(None, &KIND)?,
    };
    // Without a kind nothing is written, and the other missing values are named too.
    let kind = given.unwrap_or(Kind::Ask);
    refuse_conflicts(args, kind)?;
    let app = source.get(args.app.as_deref(), &APP)?;
    let hub = source.get_or(args.hub.as_deref(), &HUB, known.address())?;
    let default_agent = app.as_ref().map(|app| format!("{app}/agent"));
    let agent = source.get_or(args.agent.as_deref(), &AGENT, default_agent.as_deref())?;
    let (return_path, resolvers) = if kind == Kind::Notify {
        (None, Some(Vec::new()))
    } else {
        let named = hub.as_deref().zip(agent.as_deref());
        let alg = named.and_then(|(hub, agent)| known.signature_alg(hub, agent));
        outcome(args, app.as_deref(), alg, source)?
    };
    let has_shared_key = match &return_path {
        Some(ReturnPath::Push(push)) => push.has_shared_key(),
        Some(ReturnPath::Pull) | None => false,
    };
    let resolved = kind != Kind::Notify;
    let token_env = source.variable(args.token_env.as_deref(), &TOKEN_ENV, true)?;
    let signing_key_env = source.variable(args.signing_key_env.as_deref(), &SIGNING_KEY_ENV, has_shared_key)?;
    let seal_key_env = source.variable(args.seal_key_env.as_deref(), &SEAL_KEY_ENV, resolved)?;
    let out = args.out.as_ref().map(|out| out.to_string_lossy());
    let out = source.get(out.as_deref(), &OUT)?;
    let (Some(kind), Some(app), Some(hub), Some(agent), Some(resolvers), Some(out)) =
        (given, app, hub, agent, resolvers, out)
    else {
        bail!(
            "missing: {} (there is no terminal to ask at)",
            source.missing.join(", ")
        );
    };
    let settings = SkillSettings {
        kind,
        app,
        hub,
        agent,
        runtime: args.runtime.clone().unwrap_or_else(|| DEFAULT_RUNTIME.to_owned()),
        project: args
            .project
            .as_deref()
            .map(values::project)
            .transpose()
            .context("--project")?,
        return_path,
        resolvers,
        token_env,
        signing_key_env,
        seal_key_env,
    };
    distinct(&settings)?;
    let assumed = std::mem::take(&mut source.assumed);
    Ok(BuildPlan {
        settings,
        out: args.out.clone().unwrap_or(out),
        assumed,
    })
}

/// The return path and the resolvers. Without a mode the resolvers stay unknown as well, so that no skill is built
/// from incomplete input.
fn outcome(
    args: &BuildArgs,
    app: Option<&str>,
    known: Option<SignatureAlgArg>,
    source: &mut SettingSource<'_>,
) -> Result<(Option<ReturnPath>, Option<Vec<String>>)> {
    let mode = match args.mode {
        Some(mode) => Some(mode),
        None => source.get(None, &MODE)?,
    };
    if mode == Some(ReturnMode::Pull) && has_push_flag(args) {
        bail!("--callback, --callback-auth and --signature-alg are for --mode push: leave them out");
    }
    let return_path = match mode {
        Some(ReturnMode::Push) => push(args, app, known, source)?.map(ReturnPath::Push),
        Some(ReturnMode::Pull) => Some(ReturnPath::Pull),
        None => None,
    };
    let given = (!args.to.is_empty()).then(|| args.to.join(" "));
    let resolvers = source.assume(given.as_deref(), &RESOLVERS, OWNER)?;
    Ok((return_path.clone(), resolvers.filter(|_| return_path.is_some())))
}

fn push(
    args: &BuildArgs,
    app: Option<&str>,
    known: Option<SignatureAlgArg>,
    source: &mut SettingSource<'_>,
) -> Result<Option<PushSettings>> {
    // A reserved domain, which no server can use.
    let stand_in = format!("https://{}.example/countersign", app.unwrap_or("app"));
    let callback = source.assume(args.callback.as_deref(), &CALLBACK, &stand_in)?;
    let auth = args.callback_auth.as_deref().map(values::callback_auth).transpose();
    let auth = auth.context("--callback-auth SCHEME=NAME")?;
    let signature_alg = match (args.signature_alg, known) {
        (Some(given), Some(known)) if given != known => bail!(
            "--signature-alg: the hub signs pushes to this agent with {}; leave the flag out",
            known.as_str()
        ),
        (Some(alg), _) | (None, Some(alg)) => Some(alg),
        (None, None) => source.assume(None, &SIGNATURE_ALG, DEFAULT_ALG)?,
    };
    Ok(callback
        .zip(signature_alg)
        .map(|(callback, signature_alg)| PushSettings {
            callback,
            signature_alg,
            auth,
        }))
}

fn has_push_flag(args: &BuildArgs) -> bool {
    args.callback.is_some() || args.callback_auth.is_some() || args.signature_alg.is_some()
}

fn refuse_conflicts(args: &BuildArgs, kind: Kind) -> Result<()> {
    if kind == Kind::Notify && (args.mode.is_some() || has_push_flag(args) || !args.to.is_empty()) {
        bail!("a notify has no outcome: leave out --mode, --callback, --callback-auth, --signature-alg and --to");
    }
    Ok(())
}

/// Sharing a variable between two secrets would make the hub's token an agent's key.
fn distinct(settings: &SkillSettings) -> Result<()> {
    let names = settings.variables();
    let repeated = names.iter().enumerate().find(|(at, name)| names[..*at].contains(name));
    match repeated {
        Some((_, name)) => bail!("{name} is named for two secrets: the token and the keys must be different"),
        None => Ok(()),
    }
}

fn kind(kind: SkillKind) -> Kind {
    match kind {
        SkillKind::Ask => Kind::Ask,
        SkillKind::Notify => Kind::Notify,
        SkillKind::Task => Kind::Task,
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Debug, Parser)]
    struct Line {
        #[command(flatten)]
        build: BuildArgs,
    }

    fn args(line: &str) -> BuildArgs {
        Line::parse_from(std::iter::once("build").chain(line.split_whitespace())).build
    }

    fn collect(line: &str) -> Result<BuildPlan> {
        collect_settings(&args(line), &KnownAgents::default(), None)
    }

    fn hmac(callback: &str) -> Option<ReturnPath> {
        Some(ReturnPath::Push(PushSettings {
            callback: callback.to_owned(),
            signature_alg: SignatureAlgArg::HmacSha256,
            auth: None,
        }))
    }

    const WHOLE: &str = "ask --app acme --hub https://hub.example/ --agent acme/bot --mode push --to human:ann \
                         --callback https://hooks.example/r --signature-alg hmac-sha256 --out skills";

    #[test]
    fn a_whole_line_asks_for_nothing() {
        let settled = collect(WHOLE).unwrap();
        assert_eq!(settled.settings.hub, "https://hub.example");
        assert_eq!(settled.settings.return_path, hmac("https://hooks.example/r"));
        assert_eq!(settled.out, PathBuf::from("skills"));
    }

    #[test]
    fn without_a_terminal_everything_missing_is_named_at_once() {
        let missing = |line: &str| collect(line).unwrap_err().to_string();
        let all = missing("");
        for flag in [
            "ask|notify|task",
            "--app NAME",
            "--hub URL",
            "--agent ID",
            "--mode push|pull",
            "--out DIR",
        ] {
            assert!(all.contains(flag), "{flag}: {all}");
        }
        assert!(!missing("notify").contains("--mode"));
    }

    #[test]
    fn values_with_a_stand_in_are_assumed_and_reported() {
        let settled = collect("task --app acme --hub https://h --agent b --mode push --out d").unwrap();
        assert_eq!(settled.settings.resolvers, ["human:owner"]);
        let callback = "https://acme.example/countersign";
        assert_eq!(settled.settings.return_path, hmac(callback));
        assert_eq!(
            settled.assumed,
            [
                format!("{callback} (--callback URL)"),
                "hmac-sha256 (--signature-alg hmac-sha256|ed25519)".to_owned(),
                "human:owner (--to human:NAME)".to_owned()
            ]
        );
        assert!(collect(WHOLE).unwrap().assumed.is_empty());
    }

    #[test]
    fn missing_values_are_asked_for_at_a_terminal() {
        let typed = "survey\n\nacme\n\nnot ok\nacme/bot\npush\nhttps://hooks.example/r\nrsa\n\nhuman:*\nhuman:ann human:bob\nACME_TOKEN\nacme_key\n\n\n\n";
        let mut input = typed.as_bytes();
        let mut output = Vec::new();
        let settled = collect_settings(
            &args(""),
            &KnownAgents::default(),
            Some(TerminalPrompt::new(&mut input, &mut output)),
        )
        .unwrap();
        assert_eq!(settled.settings.hub, "http://127.0.0.1:7422");
        assert_eq!(settled.settings.agent, "acme/bot");
        assert_eq!(settled.settings.resolvers, ["human:ann", "human:bob"]);
        let variables = settled.settings.variables();
        assert_eq!(
            variables,
            ["ACME_TOKEN", "COUNTERSIGN_SIGNING_KEY", "COUNTERSIGN_SEAL_KEY"]
        );
        assert_eq!(settled.out, PathBuf::from(".claude/skills"));
    }

    #[test]
    fn the_algorithm_comes_from_the_hub_that_has_the_agent() {
        let known = KnownAgents::of("https://hub.example", &[("acme/bot", SignatureAlgArg::Ed25519)]);
        let line = WHOLE.replace("--signature-alg hmac-sha256 ", "");
        let settings = |line: &str| collect_settings(&args(line), &known, None).map(|settled| settled.settings);
        let found = settings(&line).unwrap();
        assert_eq!(found.push().unwrap().signature_alg, SignatureAlgArg::Ed25519);
        assert_eq!(found.variables(), ["COUNTERSIGN_TOKEN", "COUNTERSIGN_SEAL_KEY"]);
        let text = settings(WHOLE).unwrap_err().to_string();
        assert!(text.contains("with ed25519"), "{text}");
        let elsewhere = settings(&line.replace("hub.example", "other.example")).unwrap();
        assert_eq!(elsewhere.push().unwrap().signature_alg, SignatureAlgArg::HmacSha256);
        let named = settings(&format!("{line} --callback-auth hmac=acme-hook")).unwrap();
        assert!(named.variables().contains(&"COUNTERSIGN_SIGNING_KEY"));
    }

    #[test]
    fn conflicting_flags_are_refused() {
        for line in [
            "notify --app a --hub https://h --agent b --out d --mode pull",
            "notify --app a --hub https://h --agent b --out d --to human:ann",
            "ask --app a --hub https://h --agent b --out d --mode pull --to human:ann --callback https://x/",
            "ask --app a --hub https://h --agent b --out d --mode pull --to human:ann --signature-alg ed25519",
            "ask --app a --hub https://h --agent b --out d --mode push --to human:ann --callback-auth basic=x",
            "ask --app a --hub https://h --agent b --out d --mode pull --to human:ann --token-env COUNTERSIGN_SEAL_KEY",
        ] {
            assert!(collect(line).is_err(), "{line}");
        }
        let error = collect(&format!("{WHOLE} --token-env csa_BeqyUGBX")).unwrap_err();
        assert!(!format!("{error:#}").contains("BeqyUGBX"));
    }
}
