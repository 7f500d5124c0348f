//! The command line. The grammar is the one of the original cueme, so that prompts written for it keep working: words
//! are positional, and an unknown `--flag` consumes the word after it.

use std::path::PathBuf;
use std::time::Duration;

use countersign_client::duration;

use super::failure::Failure;

#[derive(Debug, Default, PartialEq)]
pub struct Args {
    /// The subcommand and its arguments.
    pub words: Vec<String>,
    pub flags: Flags,
    pub warnings: Vec<String>,
}

#[derive(Debug, Default, Clone, PartialEq)]
pub struct Flags {
    pub json: bool,
    pub no_start: bool,
    pub max_wait: Option<MaxWait>,
    pub data: Option<PathBuf>,
    /// Unsupported. `cue` and `pause` refuse it themselves, each at a different point in its order of checks.
    pub payload: bool,
    /// `proto`: the file of the current project instead of the one for all projects.
    pub project: bool,
    /// `migrate`: move the settings instead of the mailbox.
    pub settings: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MaxWait {
    Never,
    After(Duration),
}

impl MaxWait {
    pub fn read(text: &str) -> Result<Self, String> {
        match text {
            "never" => Ok(Self::Never),
            span => duration::read(span)
                .map(Self::After)
                .map_err(|why| format!("{why}, or never")),
        }
    }
}

pub fn raw() -> Result<Vec<String>, Failure> {
    let read = |argument: std::ffi::OsString| {
        let shown = |argument: std::ffi::OsString| argument.to_string_lossy().into_owned();
        argument
            .into_string()
            .map_err(|argument| Failure::usage(&format!("an argument is not valid UTF-8: {}", shown(argument))))
    };
    std::env::args_os().skip(1).map(read).collect()
}

impl Args {
    pub fn read(raw: &[String]) -> Result<Self, Failure> {
        refuse_unsupported(raw)?;
        let mut args = Self::default();
        let mut rest = raw;
        while let Some((word, after)) = rest.split_first() {
            rest = match word.strip_prefix("--") {
                Some(flag) => args.flag(flag, after)?,
                None => {
                    args.words.push(word.clone());
                    after
                }
            };
        }
        Ok(args)
    }

    /// Reads one flag and its value; returns the remaining arguments.
    fn flag<'a>(&mut self, flag: &'a str, after: &'a [String]) -> Result<&'a [String], Failure> {
        let (name, joined) = split(flag);
        match name {
            "json" => self.flags.json = true,
            "no-start" => self.flags.no_start = true,
            "project" if self.may_be("proto") => self.flags.project = true,
            "settings" if self.may_be("migrate") => self.flags.settings = true,
            "max-wait" => {
                let (value, rest) = value(name, joined, after)?;
                let read = MaxWait::read(value).map_err(|why| Failure::usage(&format!("--max-wait {value}: {why}")))?;
                self.flags.max_wait = Some(read);
                return Ok(rest);
            }
            "data" => {
                let (value, rest) = value(name, joined, after)?;
                self.flags.data = Some(PathBuf::from(value));
                return Ok(rest);
            }
            "payload" => {
                self.flags.payload = true;
                return Ok(take_next(joined, after).1);
            }
            unknown => {
                let (taken, rest) = take_next(joined, after);
                let along = taken.map(|word| format!(", and {word} after it")).unwrap_or_default();
                self.warnings
                    .push(format!("warning: unknown option --{unknown} is ignored{along}"));
                return Ok(rest);
            }
        }
        Ok(after)
    }

    /// A flag may stand before the command, which is not known then.
    fn may_be(&self, command: &str) -> bool {
        self.words.first().is_none_or(|word| word == command)
    }
}

fn split(flag: &str) -> (&str, Option<&str>) {
    match flag.split_once('=') {
        Some((name, value)) => (name, Some(value)),
        None => (flag, None),
    }
}

fn value<'a>(name: &str, joined: Option<&'a str>, after: &'a [String]) -> Result<(&'a str, &'a [String]), Failure> {
    let (next, rest) = take_next(joined, after);
    match joined.or(next) {
        Some(value) if !value.is_empty() => Ok((value, rest)),
        Some(_) | None => Err(Failure::usage(&format!("--{name} needs a value"))),
    }
}

fn take_next<'a>(joined: Option<&str>, after: &'a [String]) -> (Option<&'a str>, &'a [String]) {
    match after.split_first() {
        Some((next, rest)) if joined.is_none() && !next.starts_with("--") => (Some(next), rest),
        Some(_) | None => (None, after),
    }
}

/// Refuses unsupported flags before any other check, for every subcommand.
fn refuse_unsupported(raw: &[String]) -> Result<(), Failure> {
    let has = |name: &str| {
        raw.iter()
            .any(|word| word.strip_prefix("--").is_some_and(|flag| split(flag).0 == name))
    };
    if has("timeout") {
        return Err(Failure::usage(
            "--timeout is not supported: waiting has no limit; --max-wait DUR sets one",
        ));
    }
    for (name, hint) in [
        ("agent_id", "give the agent id after the subcommand"),
        ("prompt", "send the prompt on stdin"),
    ] {
        if has(name) {
            return Err(Failure::usage(&format!("--{name} is not supported: {hint}")));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(line: &str) -> Result<Args, Failure> {
        Args::read(&line.split(' ').map(str::to_owned).collect::<Vec<_>>())
    }

    fn words(line: &str) -> Vec<String> {
        read(line).expect("a command line").words
    }

    #[test]
    fn words_are_positional_and_single_dashes_are_words() {
        assert_eq!(words("cue gavonel -"), ["cue", "gavonel", "-"]);
        assert_eq!(words("join -v"), ["join", "-v"]);
    }

    #[test]
    fn an_unknown_flag_consumes_the_next_word_with_a_warning() {
        let args = read("cue gavonel --foo -").expect("a command line");
        assert_eq!(args.words, ["cue", "gavonel"]);
        assert_eq!(
            args.warnings,
            ["warning: unknown option --foo is ignored, and - after it"]
        );
        assert_eq!(words("cue gavonel --foo --bar x -"), ["cue", "gavonel", "-"]);
        assert_eq!(words("cue gavonel --foo=1 -"), ["cue", "gavonel", "-"]);
    }

    #[test]
    fn known_flags_are_accepted_anywhere() {
        let args = read("--json cue --data /d gavonel --max-wait 9m --no-start -").expect("a command line");
        assert_eq!(args.words, ["cue", "gavonel", "-"]);
        let max_wait = Some(MaxWait::After(Duration::from_secs(540)));
        let data = Some(PathBuf::from("/d"));
        assert_eq!(
            args.flags,
            Flags {
                json: true,
                no_start: true,
                max_wait,
                data,
                ..Flags::default()
            }
        );
        assert_eq!(
            read("cue a - --max-wait=never").unwrap().flags.max_wait,
            Some(MaxWait::Never)
        );
    }

    #[test]
    fn flags_of_one_command_are_unknown_to_the_others() {
        let args = read("proto apply claude --project").expect("a command line");
        assert!(args.flags.project && args.words == ["proto", "apply", "claude"]);
        let args = read("--project proto apply claude").expect("a command line");
        assert!(args.flags.project && args.words == ["proto", "apply", "claude"]);
        assert!(read("migrate --settings").expect("a command line").flags.settings);
        let args = read("cue gavonel --project x -").expect("a command line");
        assert!(!args.flags.project && args.words == ["cue", "gavonel", "-"], "{args:?}");
    }

    #[test]
    fn refused_flags_are_refused_before_anything_else() {
        for line in [
            "cue --timeout 5",
            "nonsense --agent_id x",
            "pause a --prompt=x",
            "cue a - --max-wait",
            "cue --data",
        ] {
            assert_eq!(read(line).unwrap_err().code, 2, "{line}");
        }
        for wrong in ["soon", "0", "0s", "1", "off"] {
            let message = read(&format!("cue a - --max-wait {wrong}")).unwrap_err().message;
            assert!(message.contains("10m") && message.ends_with("or never"), "{message}");
        }
        assert!(read("cue --payload {} a").unwrap().flags.payload);
    }
}
