//! Builds the settings from flags; missing values are asked for at a terminal, else reported all at once.

use std::path::PathBuf;

use anyhow::{Context, Result, bail};
use countersign_protocol::a2h::Kind;

use super::prompt::TerminalPrompt;
use super::settings::{ReturnPath, SkillSettings};
use super::values;
use crate::args::{BuildArgs, ReturnMode, SkillKind};

#[derive(Debug, PartialEq)]
pub struct BuildPlan {
    pub settings: SkillSettings,
    pub out: PathBuf,
    /// The assumed values, as text: they must be reviewed before the skill is used.
    pub assumed: Vec<String>,
}

/// Every hub starts with this person.
const OWNER: &str = "human:owner";

/// One required value, and its prompt.
struct SettingPrompt<T> {
    flag: &'static str,
    question: &'static str,
    default: Option<&'static str>,
    check: fn(&str) -> Result<T>,
}

const APP: SettingPrompt<String> = SettingPrompt {
    flag: "--app NAME",
    question: "Name of the app, as in acme",
    default: None,
    check: values::app,
};
const HUB: SettingPrompt<String> = SettingPrompt {
    flag: "--hub URL",
    question: "Address of the hub",
    default: Some("http://127.0.0.1:7422"),
    check: values::hub,
};
const AGENT: SettingPrompt<String> = SettingPrompt {
    flag: "--agent ID",
    question: "Id of the agent, as in acme/deployer",
    default: None,
    check: values::agent,
};
const MODE: SettingPrompt<ReturnMode> = SettingPrompt {
    flag: "--mode push|pull",
    question: "Does the outcome come by push or by pull?",
    default: Some("pull"),
    check: mode,
};
const CALLBACK: SettingPrompt<String> = SettingPrompt {
    flag: "--callback URL",
    question: "Address that outcomes are pushed to",
    default: None,
    check: values::callback,
};
const RESOLVERS: SettingPrompt<Vec<String>> = SettingPrompt {
    flag: "--to human:NAME",
    question: "Who may answer, as in human:alice human:bob",
    default: Some(OWNER),
    check: values::resolvers,
};
const TOKEN_ENV: SettingPrompt<String> = SettingPrompt {
    flag: "--token-env NAME",
    question: "Environment variable with the agent's token",
    default: Some("COUNTERSIGN_TOKEN"),
    check: values::variable,
};
const SIGNING_KEY_ENV: SettingPrompt<String> = SettingPrompt {
    flag: "--signing-key-env NAME",
    question: "Environment variable with the key that pushes are signed with",
    default: Some("COUNTERSIGN_SIGNING_KEY"),
    check: values::variable,
};
const SEAL_KEY_ENV: SettingPrompt<String> = SettingPrompt {
    flag: "--seal-key-env NAME",
    question: "Environment variable with the key that the state is sealed with",
    default: Some("COUNTERSIGN_SEAL_KEY"),
    check: values::variable,
};
const OUT: SettingPrompt<PathBuf> = SettingPrompt {
    flag: "--out DIR",
    question: "Directory to write to",
    default: Some(".claude/skills"),
    check: directory,
};

fn mode(text: &str) -> Result<ReturnMode> {
    match text {
        "push" => Ok(ReturnMode::Push),
        "pull" => Ok(ReturnMode::Pull),
        _ => bail!("enter push or pull"),
    }
}

fn directory(text: &str) -> Result<PathBuf> {
    if text.is_empty() {
        bail!("name a directory")
    } else {
        Ok(text.into())
    }
}

/// The source of values, with the list of missing and assumed ones.
struct SettingSource<'a> {
    prompt: Option<TerminalPrompt<'a>>,
    missing: Vec<&'static str>,
    assumed: Vec<String>,
}

impl SettingSource<'_> {
    fn get<T>(&mut self, given: Option<&str>, wanted: &SettingPrompt<T>) -> Result<Option<T>> {
        match (given, &mut self.prompt) {
            (Some(text), _) => (wanted.check)(text).with_context(|| wanted.flag.to_owned()).map(Some),
            (None, Some(prompt)) => prompt.ask(wanted.question, wanted.default, wanted.check).map(Some),
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

pub fn collect_settings(args: &BuildArgs, prompt: Option<TerminalPrompt<'_>>) -> Result<BuildPlan> {
    let kind = kind(args.kind);
    refuse_conflicts(args, kind)?;
    let source = &mut SettingSource {
        prompt,
        missing: Vec::new(),
        assumed: Vec::new(),
    };
    let app = source.get(args.app.as_deref(), &APP)?;
    let hub = source.get(args.hub.as_deref(), &HUB)?;
    let agent = source.get(args.agent.as_deref(), &AGENT)?;
    let (return_path, resolvers) = if kind == Kind::Notify {
        (None, Some(Vec::new()))
    } else {
        outcome(args, app.as_deref(), source)?
    };
    let pushed = matches!(return_path, Some(ReturnPath::Push { .. }));
    let resolved = kind != Kind::Notify;
    let token_env = source.variable(args.token_env.as_deref(), &TOKEN_ENV, true)?;
    let signing_key_env = source.variable(args.signing_key_env.as_deref(), &SIGNING_KEY_ENV, pushed)?;
    let seal_key_env = source.variable(args.seal_key_env.as_deref(), &SEAL_KEY_ENV, resolved)?;
    let out = args.out.as_ref().map(|out| out.to_string_lossy());
    let out = source.get(out.as_deref(), &OUT)?;
    let (Some(app), Some(hub), Some(agent), Some(resolvers), Some(out)) = (app, hub, agent, resolvers, out) else {
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
    source: &mut SettingSource<'_>,
) -> Result<(Option<ReturnPath>, Option<Vec<String>>)> {
    let mode = match args.mode {
        Some(mode) => Some(mode),
        None => source.get(None, &MODE)?,
    };
    if mode == Some(ReturnMode::Pull) && args.callback.is_some() {
        bail!("--callback is for --mode push: leave it out");
    }
    let return_path = match mode {
        Some(ReturnMode::Push) => {
            // A reserved domain, which no server can use.
            let stand_in = format!("https://{}.example/countersign", app.unwrap_or("app"));
            source
                .assume(args.callback.as_deref(), &CALLBACK, &stand_in)?
                .map(|callback| ReturnPath::Push { callback })
        }
        Some(ReturnMode::Pull) => Some(ReturnPath::Pull),
        None => None,
    };
    let given = (!args.to.is_empty()).then(|| args.to.join(" "));
    let resolvers = source.assume(given.as_deref(), &RESOLVERS, OWNER)?;
    Ok((return_path.clone(), resolvers.filter(|_| return_path.is_some())))
}

fn refuse_conflicts(args: &BuildArgs, kind: Kind) -> Result<()> {
    if kind == Kind::Notify && (args.mode.is_some() || args.callback.is_some() || !args.to.is_empty()) {
        bail!("a notify has no outcome: leave out --mode, --callback and --to");
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

    const WHOLE: &str = "ask --app acme --hub https://hub.example/ --agent acme/bot --mode push --to human:ann \
                         --callback https://hooks.example/r --out skills";

    #[test]
    fn a_whole_line_asks_for_nothing() {
        let settled = collect_settings(&args(WHOLE), None).unwrap();
        assert_eq!(settled.settings.hub, "https://hub.example");
        assert_eq!(
            settled.settings.return_path,
            Some(ReturnPath::Push {
                callback: "https://hooks.example/r".to_owned()
            })
        );
        assert_eq!(settled.out, PathBuf::from("skills"));
    }

    #[test]
    fn without_a_terminal_everything_missing_is_named_at_once() {
        let missing = |line: &str| collect_settings(&args(line), None).unwrap_err().to_string();
        let all = missing("ask");
        for flag in ["--app NAME", "--hub URL", "--agent ID", "--mode push|pull", "--out DIR"] {
            assert!(all.contains(flag), "{flag}: {all}");
        }
        assert!(!missing("notify").contains("--mode"));
    }

    #[test]
    fn values_with_a_stand_in_are_assumed_and_reported() {
        let settled = collect_settings(
            &args("task --app acme --hub https://h --agent b --mode push --out d"),
            None,
        )
        .unwrap();
        assert_eq!(settled.settings.resolvers, ["human:owner"]);
        let callback = "https://acme.example/countersign";
        assert_eq!(
            settled.settings.return_path,
            Some(ReturnPath::Push {
                callback: callback.to_owned()
            })
        );
        assert_eq!(
            settled.assumed,
            [
                format!("{callback} (--callback URL)"),
                "human:owner (--to human:NAME)".to_owned()
            ]
        );
        assert!(collect_settings(&args(WHOLE), None).unwrap().assumed.is_empty());
    }

    #[test]
    fn missing_values_are_asked_for_at_a_terminal() {
        let typed = "acme\n\nnot ok\nacme/bot\npush\nhttps://hooks.example/r\nhuman:*\nhuman:ann human:bob\nACME_TOKEN\nacme_key\n\n\n\n";
        let mut input = typed.as_bytes();
        let mut output = Vec::new();
        let settled = collect_settings(&args("ask"), Some(TerminalPrompt::new(&mut input, &mut output))).unwrap();
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
    fn conflicting_flags_are_refused() {
        for line in [
            "notify --app a --hub https://h --agent b --out d --mode pull",
            "notify --app a --hub https://h --agent b --out d --to human:ann",
            "ask --app a --hub https://h --agent b --out d --mode pull --to human:ann --callback https://x/",
            "ask --app a --hub https://h --agent b --out d --mode pull --to human:ann --token-env COUNTERSIGN_SEAL_KEY",
        ] {
            assert!(collect_settings(&args(line), None).is_err(), "{line}");
        }
        let error = collect_settings(&args(&format!("{WHOLE} --token-env csa_BeqyUGBX")), None).unwrap_err();
        assert!(!format!("{error:#}").contains("BeqyUGBX"));
    }
}
