//! The built-in agents: the file from which each reads its rules, and the text that this file has to begin with.

use anyhow::{Result, bail};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum System {
    Linux,
    Macos,
    Windows,
}

impl System {
    pub const ALL: [Self; 3] = [Self::Linux, Self::Macos, Self::Windows];

    pub fn current() -> Result<Self> {
        match std::env::consts::OS {
            "linux" => Ok(Self::Linux),
            "macos" => Ok(Self::Macos),
            "windows" => Ok(Self::Windows),
            other => bail!("where agents keep their rules on {other} is not known; use Linux, macOS or Windows"),
        }
    }

    /// The first part of a key of `cueme.proto.path`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Linux => "linux",
            Self::Macos => "macos",
            Self::Windows => "windows",
        }
    }
}

/// Which rules file is meant: the one for all projects of the user, or the one of the current project.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    User,
    Project,
}

/// An agent and its rules file, which applies to every project unless its comment says otherwise.
#[derive(Debug)]
pub struct Target {
    pub agent: &'static str,
    linux: &'static str,
    macos: &'static str,
    windows: &'static str,
    /// The rules file in a project, relative to it.
    pub project: Option<&'static str>,
    pub prefix: &'static [&'static str],
    pub runtime: &'static [&'static str],
    /// The default that earlier versions wrote to the settings file. It counts as unchanged by the user.
    pub former_runtime: Option<&'static str>,
    /// A note about the file for the user.
    pub note: Option<&'static str>,
}

const TIMEOUT_ADVICE: &str = "Give every `cueme cue`, `cueme pause` and `cueme resume` call the longest timeout your shell \
                              tool takes, 24 hours (86400000 ms) if it can: a person may answer late.";

/// Claude Code ends a shell command after ten minutes at most, so the wait has to end before that.
const CLAUDE_ADVICE: &str = "Your shell tool ends a command after 10 minutes. Run every `cueme cue`, `cueme pause` and \
                             `cueme resume` with `--max-wait 9m` and a timeout of 600000 ms. When it prints that there is \
                             no answer yet, run the `cueme resume` that it names, the same way, until the answer is there.";

/// Sorted by agent name.
pub const TARGETS: [Target; 7] = [
    Target {
        project: Some("CLAUDE.md"),
        runtime: &[CLAUDE_ADVICE],
        former_runtime: Some(TIMEOUT_ADVICE),
        ..plain_target("claude", "~/.claude/CLAUDE.md", r"%USERPROFILE%\.claude\CLAUDE.md")
    },
    Target {
        project: Some("AGENTS.md"),
        runtime: &[
            TIMEOUT_ADVICE,
            "Keep your task list with `update_plan`; do not make a file of it.",
        ],
        ..plain_target("codex", "~/.codex/AGENTS.md", r"%USERPROFILE%\.codex\AGENTS.md")
    },
    // Cursor loads rule files only from the `.cursor/rules` of a project. Its global User Rules are not a file, and a
    // file in ~/.cursor/rules is never read. So this path is relative: the file goes into the project in which `proto
    // apply cursor` runs.
    Target {
        project: Some(".cursor/rules/cueme_proto.mdc"),
        prefix: &[
            "---",
            "description: Talk with the user through cueme",
            "alwaysApply: true",
            "---",
        ],
        note: Some(
            "Cursor reads rule files of the project only: apply it in every project, or paste what `cueme proto cursor` \
             prints into the User Rules of its settings",
        ),
        ..plain_target(
            "cursor",
            ".cursor/rules/cueme_proto.mdc",
            r".cursor\rules\cueme_proto.mdc",
        )
    },
    Target {
        project: Some(".kiro/steering/cueme_proto.md"),
        ..plain_target(
            "kiro",
            "~/.kiro/steering/cueme_proto.md",
            r"%USERPROFILE%\.kiro\steering\cueme_proto.md",
        )
    },
    // The global rules of OpenCode. It follows the XDG layout on Windows too, so the path is not below %APPDATA%. A
    // user who sets XDG_CONFIG_HOME has to name the file in the settings.
    Target {
        project: Some("AGENTS.md"),
        ..plain_target(
            "opencode",
            "~/.config/opencode/AGENTS.md",
            r"%USERPROFILE%\.config\opencode\AGENTS.md",
        )
    },
    Target {
        project: Some(".github/instructions/cueme_proto.instructions.md"),
        macos: "~/Library/Application Support/Code/User/prompts/cueme_proto.instructions.md",
        prefix: &["---", "applyTo: \"**\"", "---"],
        ..plain_target(
            "vscode",
            "~/.config/Code/User/prompts/cueme_proto.instructions.md",
            r"%APPDATA%\Code\User\prompts\cueme_proto.instructions.md",
        )
    },
    plain_target(
        "windsurf",
        "~/.codeium/windsurf/memories/global_rules.md",
        r"%USERPROFILE%\.codeium\windsurf\memories\global_rules.md",
    ),
];

const fn plain_target(agent: &'static str, unix: &'static str, windows: &'static str) -> Target {
    Target {
        agent,
        linux: unix,
        macos: unix,
        windows,
        project: None,
        prefix: &[],
        runtime: &[],
        former_runtime: None,
        note: None,
    }
}

impl Target {
    pub fn of(agent: &str) -> Option<&'static Self> {
        TARGETS.iter().find(|target| target.agent == agent)
    }

    pub fn path(&self, system: System) -> &'static str {
        match system {
            System::Linux => self.linux,
            System::Macos => self.macos,
            System::Windows => self.windows,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_agent_has_a_file_on_every_system() {
        let names: Vec<&str> = TARGETS.iter().map(|target| target.agent).collect();
        assert_eq!(
            names,
            ["claude", "codex", "cursor", "kiro", "opencode", "vscode", "windsurf"]
        );
        for target in &TARGETS {
            let [linux, macos, windows] = System::ALL.map(|system| target.path(system));
            let in_project = target.agent == "cursor";
            for path in [linux, macos] {
                assert!(path.starts_with("~/") || in_project, "{path}");
                assert!(!path.contains(['\\', '%']), "{path}");
            }
            assert!(windows.starts_with('%') || in_project, "{windows}");
            assert!(!windows.contains('/'), "{windows}");
            let name = |path: &'static str| path.rsplit(['/', '\\']).next();
            assert_eq!(name(linux), name(windows));
        }
    }

    #[test]
    fn front_matter_is_closed() {
        for target in TARGETS.iter().filter(|target| !target.prefix.is_empty()) {
            assert_eq!(
                (target.prefix.first(), target.prefix.last()),
                (Some(&"---"), Some(&"---")),
                "{}",
                target.agent
            );
        }
    }
}
