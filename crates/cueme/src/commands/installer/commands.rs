//! The verbs of `cueme proto`.

use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context, Result, bail};

use super::edit::{self, Change, Edited, Wanted};
use super::paths::Here;
use super::settings::{self, Settings};
use super::targets::Target;
use super::write;

const USAGE: &str = "\
usage: cueme proto <agent>         print what would be installed
       cueme proto apply <agent>   install or update it
       cueme proto rm <agent>      take it out again (also: remove)
       cueme proto path <agent>    print the file it goes to
       cueme proto ls              list the agents
       cueme proto init            make ~/.cue/cueme.json to change the above";

/// What a command prints: results on stdout, notes on stderr.
#[derive(Debug, Default)]
struct Said {
    result: String,
    notes: Vec<String>,
}

/// `words`: those after `proto`. Whatever goes wrong ends with 2, one line on stderr, and nothing written.
pub fn run(words: &[String]) -> ExitCode {
    let said = match Here::now().and_then(|here| perform(words, &here)) {
        Ok(said) => said,
        Err(error) => {
            eprintln!("error: {error:#}");
            return ExitCode::from(2);
        }
    };
    for note in &said.notes {
        eprintln!("note: {note}");
    }
    let mut stdout = io::stdout().lock();
    match stdout.write_all(said.result.as_bytes()).and_then(|()| stdout.flush()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: stdout: {error}");
            ExitCode::FAILURE
        }
    }
}

fn perform(words: &[String], here: &Here) -> Result<Said> {
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match words.as_slice() {
        ["help" | "-h" | "--help"] => Ok(Said {
            result: format!("{USAGE}\n"),
            notes: Vec::new(),
        }),
        ["init"] => init(here),
        ["ls"] => with_settings(here, |settings| {
            Ok(settings
                .agents()?
                .into_iter()
                .map(|agent| agent + "\n")
                .collect::<String>()
                .into())
        }),
        ["apply", agent] if is_agent(agent) => with_settings(here, |settings| apply(settings, here, agent)),
        ["rm" | "remove", agent] if is_agent(agent) => with_settings(here, |settings| remove(settings, here, agent)),
        ["path", agent] if is_agent(agent) => with_settings(here, |settings| {
            Ok(format!("{}\n", settings.path(agent, here)?.display()).into())
        }),
        ["apply" | "rm" | "remove" | "path" | "init" | "ls", ..] => bail!("this is not a proto command\n{USAGE}"),
        [agent] if is_agent(agent) => with_settings(here, |settings| render(settings, here, agent)),
        _ => bail!("give an agent or a verb\n{USAGE}"),
    }
}

impl From<String> for Said {
    fn from(result: String) -> Self {
        Self {
            result,
            notes: Vec::new(),
        }
    }
}

fn is_agent(word: &str) -> bool {
    !word.trim().is_empty() && !word.starts_with('-')
}

fn init(here: &Here) -> Result<Said> {
    let file = here.settings_file();
    let made = settings::create(&file)?;
    Settings::load(here)?;
    let shown = file.display();
    Ok(if made {
        format!("ok: created {shown}\n")
    } else {
        format!("ok: kept {shown}, which was there\n")
    }
    .into())
}

/// The settings are made on the way, to be found by whoever wants to change them. They are not needed, so a home that
/// cannot be written to is no reason to stop.
fn with_settings(here: &Here, act: impl FnOnce(&Settings) -> Result<Said>) -> Result<Said> {
    let made = settings::create(&here.settings_file());
    let mut said = act(&Settings::load(here)?)?;
    if let Err(error) = made {
        said.notes.push(format!("{error:#}"));
    }
    Ok(said)
}

struct Parts {
    prefix: String,
    proto: String,
    runtime: Option<String>,
    note: Option<String>,
}

impl Parts {
    fn of(settings: &Settings, here: &Here, agent: &str) -> Result<Self> {
        let words = settings.words(here)?;
        let prefix = settings.prefix(agent)?;
        let runtime = settings.runtime(agent)?;
        Ok(Self {
            prefix,
            proto: words.text,
            runtime,
            note: words.note,
        })
    }

    fn into_file(self, text: &str) -> Result<(Edited, Vec<String>)> {
        let wanted = Wanted {
            prefix: &self.prefix,
            proto: &self.proto,
            runtime: self.runtime.as_deref(),
        };
        Ok((edit::apply(text, &wanted)?, self.note.into_iter().collect()))
    }
}

/// As a file would look that has nothing else in it.
fn render(settings: &Settings, here: &Here, agent: &str) -> Result<Said> {
    settings.path(agent, here)?;
    let (edited, notes) = Parts::of(settings, here, agent)?.into_file("")?;
    Ok(Said {
        result: edited.text,
        notes,
    })
}

fn apply(settings: &Settings, here: &Here, agent: &str) -> Result<Said> {
    let path = settings.target(agent, here)?;
    let parts = Parts::of(settings, here, agent)?;
    let before = write::read(&path)?;
    let (edited, mut notes) = parts
        .into_file(before.as_deref().unwrap_or_default())
        .with_context(|| shown(&path))?;
    if let Some(target) =
        Target::of(agent).filter(|target| here.resolve(target.path(here.system)).is_ok_and(|own| own == path))
    {
        notes.extend(target.note.map(str::to_owned));
    }
    if before.as_deref() != Some(edited.text.as_str()) {
        write::replace(&path, &edited.text)?;
    }
    Ok(Said {
        result: format!("ok: applied to {} ({})\n", shown(&path), changes(&edited)),
        notes,
    })
}

fn remove(settings: &Settings, here: &Here, agent: &str) -> Result<Said> {
    let path = settings.target(agent, here)?;
    let prefixes = settings.prefixes(agent)?;
    let Some(before) = write::read(&path)? else {
        return Ok(format!("ok: nothing to remove: there is no {}\n", shown(&path)).into());
    };
    let prefixes: Vec<&str> = prefixes.iter().map(String::as_str).collect();
    let edited = edit::remove(&before, &prefixes).with_context(|| shown(&path))?;
    if [edited.prefix, edited.proto, edited.runtime] == [Change::Skipped; 3] {
        return Ok(format!("ok: nothing to remove in {}\n", shown(&path)).into());
    }
    let file = match edited.text.as_str() {
        "" if write::delete(&path)? => {
            write::prune(&path, &here.roots());
            "deleted"
        }
        "" => "emptied",
        text => {
            write::replace(&path, text)?;
            "kept"
        }
    };
    Ok(format!(
        "ok: removed from {} ({}, file={file})\n",
        shown(&path),
        changes(&edited)
    )
    .into())
}

fn changes(edited: &Edited) -> String {
    let [prefix, proto, runtime] = [edited.prefix, edited.proto, edited.runtime].map(Change::word);
    format!("prefix={prefix}, proto={proto}, runtime={runtime}")
}

fn shown(path: &Path) -> String {
    path.display().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commands::installer::scratch::Scratch;
    use crate::commands::installer::{PROTOCOL, blocks};

    fn said(scratch: &Scratch, line: &str) -> Result<Said> {
        let words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        perform(&words, &scratch.here())
    }

    #[track_caller]
    fn ok(scratch: &Scratch, line: &str) -> String {
        said(scratch, line).unwrap().result
    }

    #[test]
    fn what_is_printed_is_what_a_fresh_file_gets() {
        let scratch = Scratch::new();
        for agent in ["claude", "codex", "cursor", "kiro", "opencode", "vscode", "windsurf"] {
            let rendered = ok(&scratch, agent);
            assert!(rendered.contains(PROTOCOL.trim_end()));
            let path = ok(&scratch, &format!("path {agent}"));
            assert!(!Path::new(path.trim_end()).exists(), "printing writes nothing");
            let applied = ok(&scratch, &format!("apply {agent}"));
            assert!(
                applied.starts_with(&format!("ok: applied to {} (prefix=", path.trim_end())),
                "{applied}"
            );
            assert_eq!(std::fs::read_to_string(path.trim_end()).unwrap(), rendered);
            let removed = ok(&scratch, &format!("rm {agent}"));
            assert!(
                removed.contains("proto=removed") && removed.ends_with(", file=deleted)\n"),
                "{removed}"
            );
            assert!(!Path::new(path.trim_end()).exists());
        }
    }

    #[test]
    fn every_word_is_needed_and_no_more() {
        let scratch = Scratch::new();
        for line in [
            "",
            "apply",
            "rm",
            "remove",
            "path",
            "apply a b",
            "ls a",
            "init a",
            "claude codex",
            "--claude",
        ] {
            let words = format!("{:#}", said(&scratch, line).unwrap_err());
            assert!(words.contains("usage: cueme proto"), "{line}: {words}");
        }
        assert!(perform(&["apply".to_owned(), String::new()], &scratch.here()).is_err());
        assert!(
            !scratch.path(".cue").exists(),
            "a line that is not understood makes nothing"
        );
        assert!(ok(&scratch, "help").starts_with("usage"));
    }

    #[cfg(unix)]
    #[test]
    fn settings_that_cannot_be_made_stop_only_init() {
        let scratch = Scratch::new();
        std::os::unix::fs::symlink("nowhere", scratch.path(".cue")).unwrap();
        assert!(said(&scratch, "init").is_err());
        let said = said(&scratch, "path claude").unwrap();
        assert!(said.result.ends_with("/.claude/CLAUDE.md\n"));
        assert!(said.notes[0].contains("cueme.json cannot be written"), "{said:?}");
    }

    #[test]
    fn whoever_applies_to_cursor_is_told_how_far_it_reaches() {
        let scratch = Scratch::new();
        let told = said(&scratch, "apply cursor").unwrap();
        assert!(
            told.result.contains("/project/.cursor/rules/cueme_proto.mdc"),
            "{told:?}"
        );
        assert!(told.notes[0].contains("every project"), "{told:?}");
        assert!(said(&scratch, "apply claude").unwrap().notes.is_empty());
    }

    #[test]
    fn our_own_words_can_stand_in_a_block() {
        assert_eq!(blocks::first_marker(PROTOCOL), None);
        assert!(PROTOCOL.ends_with('\n') && !PROTOCOL.contains('\r') && PROTOCOL.len() < 10_000);
    }
}
