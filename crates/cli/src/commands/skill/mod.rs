//! `skill build` and `skill check`: one page per app on how its agents ask, notify or set a task.

mod check;
mod collect;
#[cfg(test)]
mod commands_shown;
mod files;
mod front_matter;
mod json_blocks;
mod placeholders;
mod plugin;
mod prompt;
mod render;
mod secret;
mod setting_prompts;
mod settings;
mod shell_lines;
mod values;

use std::io::{self, IsTerminal};
use std::path::{Path, PathBuf};

use anyhow::Result;
use collect::BuildPlan;
use countersign_client::screen::{self, escape};
use files::{PlannedFile, WriteResult};
use serde_json::json;

use super::local_hub::{self, KnownAgents};
use super::{Finished, admin};
use crate::args::{BuildArgs, Globals, SkillCommand};

pub use check::read as read_skill;
pub use prompt::TerminalPrompt;
pub use render::page as render_page;
pub use settings::{DEFAULT_RUNTIME, PushSettings, ReturnPath, SkillSettings};
pub use shell_lines::{lines as shell_lines, words as shell_words};
pub use values::{host_of, resolver as check_resolver};

pub async fn run(command: SkillCommand, globals: &Globals) -> Result<Finished> {
    match command {
        SkillCommand::Build(args) => build(&args, globals).await,
        SkillCommand::Check { skill } => check(&skill, globals.json),
    }
}

async fn build(args: &BuildArgs, globals: &Globals) -> Result<Finished> {
    let known = KnownAgents::read(globals).await;
    let mut input = io::stdin().lock();
    let mut output = io::stderr().lock();
    let prompt = if input.is_terminal() {
        Some(TerminalPrompt::new(&mut input, &mut output))
    } else {
        None
    };
    let settled = collect::collect_settings(args, &known, prompt)?;
    let files = files::write(&plan(&settled, args.plugin)?, args.force)?;
    let mut text = report(&settled, &files, args.plugin, globals.json);
    let SkillSettings { hub, agent, .. } = &settled.settings;
    if !globals.json && known.lacks(hub, agent) {
        let prompt = if input.is_terminal() {
            Some(TerminalPrompt::new(&mut input, &mut output))
        } else {
            None
        };
        text.push_str(&offer_agent(&settled.settings, prompt, globals).await?);
    }
    Ok(Finished::ok(text))
}

/// Adds the agent at the hub of the data directory if the person agrees, and else says how to add it.
async fn offer_agent(
    settings: &SkillSettings,
    prompt: Option<TerminalPrompt<'_>>,
    globals: &Globals,
) -> Result<String> {
    let id = &settings.agent;
    let question = format!("The hub has no agent {}. Add it now, yes or no?", escape(id));
    let agrees = prompt.map(|mut prompt| prompt.ask(&question, Some("yes"), setting_prompts::yes_or_no));
    let owner = local_hub::owner(globals)?;
    match (agrees.transpose()?, owner) {
        (Some(true), Some(owner)) => {
            let alg = settings.push().map(|push| push.signature_alg);
            let added = admin::agent::add(id, alg, false, &owner, false).await?;
            Ok(format!("\n{added}"))
        }
        (Some(_) | None, _) => Ok(format!(
            "The hub has no agent {0}: add it with `countersign agent add {0}`.\n",
            escape(id)
        )),
    }
}

/// The files to write. The page must pass the same check as a page edited by hand.
fn plan(settled: &BuildPlan, as_plugin: bool) -> Result<Vec<PlannedFile>> {
    let BuildPlan {
        settings,
        out,
        assumed: _,
    } = settled;
    let name = settings.name();
    let text = render::page(settings)?;
    check::check(&text, &name)?;
    let skills = if as_plugin { out.join("skills") } else { out.clone() };
    let mut planned = vec![PlannedFile {
        path: skills.join(name).join("SKILL.md"),
        text,
    }];
    if as_plugin {
        planned.extend(plugin::files(&settings.app, out));
    }
    Ok(planned)
}

fn report(settled: &BuildPlan, files: &[(PathBuf, WriteResult)], as_plugin: bool, json: bool) -> String {
    let names = |wanted: WriteResult| {
        let matching = files.iter().filter(move |(_, done)| *done == wanted);
        matching.map(|(path, _)| path.display().to_string()).collect::<Vec<_>>()
    };
    let settings = &settled.settings;
    let written = names(WriteResult::Written);
    let unchanged = names(WriteResult::Unchanged);
    if json {
        let assumed = &settled.assumed;
        return screen::json(
            &json!({ "skill": settings.name(), "written": written, "unchanged": unchanged, "assumed": assumed }),
        );
    }
    let mut text = String::new();
    text.extend(written.iter().map(|path| format!("wrote      {}\n", escape(path))));
    text.extend(unchanged.iter().map(|path| format!("unchanged  {}\n", escape(path))));
    if !settled.assumed.is_empty() {
        let assumed = settled.assumed.join(", ");
        text.push_str(&format!(
            "\nAssumed, because no value was given: {assumed}. Build it again with the right values.\n"
        ));
    }
    text.push_str(&format!(
        "\nSet these where the agent runs: {}.\n",
        settings.variables().join(", ")
    ));
    if let Some((skill, _)) = files.first()
        && let Some(directory) = skill.parent()
    {
        text.push_str(&format!(
            "Prove it with: countersign smoke --skill {}\n",
            escape(&directory.to_string_lossy())
        ));
    }
    if as_plugin {
        text.push_str(&plugin::install_lines(settings, &settled.out));
    }
    text
}

fn check(skill: &Path, json: bool) -> Result<Finished> {
    let (settings, _) = check::read(skill)?;
    let name = settings.name();
    let text = if json {
        screen::json(&json!({ "skill": name, "ok": true }))
    } else {
        format!("{name} is valid.\n")
    };
    Ok(Finished::ok(text))
}
