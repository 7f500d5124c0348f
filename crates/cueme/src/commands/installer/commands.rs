//! The subcommands of `cueme proto`.

use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context, Result, bail};

use super::atomic_file;
use super::edit::{self, Change, DesiredParts, EditedFile};
use super::environment::Environment;
use super::settings::{self, ProtoSettings};
use super::targets::{Scope, Target};

const USAGE: &str = "\
Usage: cueme proto <agent>         print what would be installed
       cueme proto apply <agent>   install or update it
       cueme proto rm <agent>      take it out again (also: remove)
       cueme proto path <agent>    print the file it goes to
       cueme proto ls              list the agents
       cueme proto init            make ~/.cue/cueme.json to change the above

With --project, apply, rm and path mean the file of the current project, not the one for all projects.";

/// The output of a subcommand: the result goes to stdout, the notes go to stderr.
#[derive(Debug, Default)]
struct ProtoOutput {
    result: String,
    notes: Vec<String>,
}

/// Runs `cueme proto`; `words` are the arguments after `proto`. An error is printed to stderr and exits with code 2,
/// with no file changed.
pub fn run(words: &[String], scope: Scope) -> ExitCode {
    let output = match Environment::current().and_then(|env| dispatch(words, scope, &env)) {
        Ok(output) => output,
        Err(error) => {
            eprintln!("error: {error:#}");
            return ExitCode::from(2);
        }
    };
    for note in &output.notes {
        eprintln!("note: {note}");
    }
    let mut stdout = io::stdout().lock();
    match stdout.write_all(output.result.as_bytes()).and_then(|()| stdout.flush()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: stdout: {error}");
            ExitCode::FAILURE
        }
    }
}

fn dispatch(words: &[String], scope: Scope, env: &Environment) -> Result<ProtoOutput> {
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match words.as_slice() {
        ["help" | "-h" | "--help"] => Ok(ProtoOutput {
            result: format!("{USAGE}\n"),
            notes: Vec::new(),
        }),
        ["init"] => init(env),
        ["ls"] => with_settings(env, |settings| {
            Ok(settings
                .agents()?
                .into_iter()
                .map(|agent| agent + "\n")
                .collect::<String>()
                .into())
        }),
        ["apply", agent] if is_agent(agent) => with_settings(env, |settings| apply(settings, scope, env, agent)),
        ["rm" | "remove", agent] if is_agent(agent) => {
            with_settings(env, |settings| remove(settings, scope, env, agent))
        }
        ["path", agent] if is_agent(agent) => with_settings(env, |settings| {
            Ok(format!("{}\n", settings.path(agent, scope, env)?.display()).into())
        }),
        ["apply" | "rm" | "remove" | "path" | "init" | "ls", ..] => bail!("this is not a proto command\n{USAGE}"),
        [agent] if is_agent(agent) => with_settings(env, |settings| render(settings, env, agent)),
        _ => bail!("give an agent or a verb\n{USAGE}"),
    }
}

impl From<String> for ProtoOutput {
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

fn init(env: &Environment) -> Result<ProtoOutput> {
    let file = env.settings_file();
    let created = settings::create(&file)?;
    ProtoSettings::load(env)?;
    let display = file.display();
    Ok(if created {
        format!("ok: created {display}\n")
    } else {
        format!("ok: kept {display}, which was there\n")
    }
    .into())
}

/// Creates missing settings first, so that the user finds a file to edit. The file is optional, so a home directory
/// that cannot be written to only adds a note.
fn with_settings(env: &Environment, act: impl FnOnce(&ProtoSettings) -> Result<ProtoOutput>) -> Result<ProtoOutput> {
    let created = settings::create(&env.settings_file());
    let mut output = act(&ProtoSettings::load(env)?)?;
    if let Err(error) = created {
        output.notes.push(format!("{error:#}"));
    }
    Ok(output)
}

struct Parts {
    prefix: String,
    proto: String,
    runtime: Option<String>,
    note: Option<String>,
}

impl Parts {
    fn load(settings: &ProtoSettings, env: &Environment, agent: &str) -> Result<Self> {
        let protocol = settings.protocol_text(env)?;
        let prefix = settings.prefix(agent)?;
        let runtime = settings.runtime(agent, env)?;
        Ok(Self {
            prefix,
            proto: protocol.text,
            runtime,
            note: protocol.note,
        })
    }

    fn apply_to(self, text: &str) -> Result<(EditedFile, Vec<String>)> {
        let desired = DesiredParts {
            prefix: &self.prefix,
            proto: &self.proto,
            runtime: self.runtime.as_deref(),
        };
        Ok((edit::apply(text, &desired)?, self.note.into_iter().collect()))
    }
}

/// The contents of a new file.
fn render(settings: &ProtoSettings, env: &Environment, agent: &str) -> Result<ProtoOutput> {
    settings.path(agent, Scope::User, env)?;
    let (edited, notes) = Parts::load(settings, env, agent)?.apply_to("")?;
    Ok(ProtoOutput {
        result: edited.text,
        notes,
    })
}

fn apply(settings: &ProtoSettings, scope: Scope, env: &Environment, agent: &str) -> Result<ProtoOutput> {
    let path = settings.writable_path(agent, scope, env)?;
    let parts = Parts::load(settings, env, agent)?;
    let before = atomic_file::read(&path)?;
    let (edited, mut notes) = parts
        .apply_to(before.as_deref().unwrap_or_default())
        .with_context(|| display(&path))?;
    if let Some(target) =
        Target::of(agent).filter(|target| env.resolve(target.path(env.system)).is_ok_and(|own| own == path))
    {
        notes.extend(target.note.map(str::to_owned));
    }
    if scope == Scope::User && edited.proto == Change::Added {
        notes.extend(project_offer(agent, settings, env));
    }
    if before.as_deref() != Some(edited.text.as_str()) {
        atomic_file::replace(&path, &edited.text)?;
    }
    Ok(ProtoOutput {
        result: format!("ok: applied to {} ({})\n", display(&path), changes(&edited)),
        notes,
    })
}

/// The offer to install into the current project instead; `None` if both are the same file.
fn project_offer(agent: &str, settings: &ProtoSettings, env: &Environment) -> Option<String> {
    let for_project = settings.path(agent, Scope::Project, env).ok()?;
    let for_user = settings.path(agent, Scope::User, env).ok()?;
    (for_project != for_user).then(|| {
        format!("this holds in every project; for one project only, run `cueme proto apply {agent} --project` there")
    })
}

fn remove(settings: &ProtoSettings, scope: Scope, env: &Environment, agent: &str) -> Result<ProtoOutput> {
    let path = settings.writable_path(agent, scope, env)?;
    let prefixes = settings.possible_prefixes(agent)?;
    let Some(before) = atomic_file::read(&path)? else {
        return Ok(format!("ok: nothing to remove: there is no {}\n", display(&path)).into());
    };
    let prefixes: Vec<&str> = prefixes.iter().map(String::as_str).collect();
    let edited = edit::remove(&before, &prefixes).with_context(|| display(&path))?;
    if [edited.prefix, edited.proto, edited.runtime] == [Change::Skipped; 3] {
        return Ok(format!("ok: nothing to remove in {}\n", display(&path)).into());
    }
    let file = match edited.text.as_str() {
        "" if atomic_file::delete(&path)? => {
            atomic_file::remove_empty_parents(&path, &env.roots());
            "deleted"
        }
        "" => "emptied",
        text => {
            atomic_file::replace(&path, text)?;
            "kept"
        }
    };
    Ok(format!(
        "ok: removed from {} ({}, file={file})\n",
        display(&path),
        changes(&edited)
    )
    .into())
}

fn changes(edited: &EditedFile) -> String {
    let [prefix, proto, runtime] = [edited.prefix, edited.proto, edited.runtime].map(Change::as_str);
    format!("prefix={prefix}, proto={proto}, runtime={runtime}")
}

fn display(path: &Path) -> String {
    path.display().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commands::installer::scratch::Scratch;
    use crate::commands::installer::{PROTOCOL, blocks};

    fn run_line(scratch: &Scratch, line: &str) -> Result<ProtoOutput> {
        let words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        dispatch(&words, Scope::User, &scratch.environment())
    }

    #[track_caller]
    fn ok(scratch: &Scratch, line: &str) -> String {
        run_line(scratch, line).unwrap().result
    }

    #[test]
    fn a_new_file_gets_the_printed_text() {
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
    fn missing_and_extra_arguments_are_refused() {
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
            let message = format!("{:#}", run_line(&scratch, line).unwrap_err());
            assert!(message.contains("Usage: cueme proto"), "{line}: {message}");
        }
        assert!(
            dispatch(
                &["apply".to_owned(), String::new()],
                Scope::User,
                &scratch.environment()
            )
            .is_err()
        );
        assert!(!scratch.path(".cue").exists(), "an invalid command creates nothing");
        assert!(ok(&scratch, "help").starts_with("Usage: "));
    }

    #[cfg(unix)]
    #[test]
    fn settings_that_cannot_be_created_fail_only_init() {
        let scratch = Scratch::new();
        std::os::unix::fs::symlink("nowhere", scratch.path(".cue")).unwrap();
        assert!(run_line(&scratch, "init").is_err());
        let output = run_line(&scratch, "path claude").unwrap();
        assert!(output.result.ends_with("/.claude/CLAUDE.md\n"));
        assert!(output.notes[0].contains("cueme.json cannot be written"), "{output:?}");
    }

    #[test]
    fn applying_to_cursor_notes_that_it_is_per_project() {
        let scratch = Scratch::new();
        let output = run_line(&scratch, "apply cursor").unwrap();
        assert!(
            output.result.contains("/project/.cursor/rules/cueme_proto.mdc"),
            "{output:?}"
        );
        assert!(output.notes[0].contains("every project"), "{output:?}");
        assert!(run_line(&scratch, "apply windsurf").unwrap().notes.is_empty());
    }

    #[test]
    fn the_built_in_text_contains_no_marker() {
        assert_eq!(blocks::first_marker(PROTOCOL), None);
        assert!(PROTOCOL.ends_with('\n') && !PROTOCOL.contains('\r') && PROTOCOL.len() < 10_000);
    }
}
