//! The agents that are known without being configured: where each reads its rules, and what that file has to begin with.

use anyhow::{Result, bail};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum System {
    Linux,
    Macos,
    Windows,
}

impl System {
    pub const ALL: [Self; 3] = [Self::Linux, Self::Macos, Self::Windows];

    pub fn now() -> Result<Self> {
        match std::env::consts::OS {
            "linux" => Ok(Self::Linux),
            "macos" => Ok(Self::Macos),
            "windows" => Ok(Self::Windows),
            other => bail!("where agents keep their rules on {other} is not known; use Linux, macOS or Windows"),
        }
    }

    /// The first half of a key of `cueme.proto.path`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Linux => "linux",
            Self::Macos => "macos",
            Self::Windows => "windows",
        }
    }
}

/// A file that an agent reads for every project, unless its entry says otherwise.
#[derive(Debug)]
pub struct Target {
    pub agent: &'static str,
    linux: &'static str,
    macos: &'static str,
    windows: &'static str,
    pub prefix: &'static [&'static str],
    pub runtime: &'static [&'static str],
    /// What its person should know about that file.
    pub note: Option<&'static str>,
}

const PATIENCE: &str = "Give every `cueme cue`, `cueme pause` and `cueme resume` call the longest timeout your shell tool \
                        takes, 24 hours (86400000 ms) if it can: a person may answer late.";

/// By name.
pub const TARGETS: [Target; 7] = [
    Target {
        runtime: &[PATIENCE],
        ..same("claude", "~/.claude/CLAUDE.md", r"%USERPROFILE%\.claude\CLAUDE.md")
    },
    Target {
        runtime: &[
            PATIENCE,
            "Keep your task list with `update_plan`; do not make a file of it.",
        ],
        ..same("codex", "~/.codex/AGENTS.md", r"%USERPROFILE%\.codex\AGENTS.md")
    },
    // Cursor loads rule files from the `.cursor/rules` of a project only. What it applies everywhere are the User Rules of
    // its settings, which are no file; a file in ~/.cursor/rules looks right and is never read. So this one is relative:
    // it goes into the project that `proto apply cursor` is run in.
    Target {
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
        ..same(
            "cursor",
            ".cursor/rules/cueme_proto.mdc",
            r".cursor\rules\cueme_proto.mdc",
        )
    },
    same(
        "kiro",
        "~/.kiro/steering/cueme_proto.md",
        r"%USERPROFILE%\.kiro\steering\cueme_proto.md",
    ),
    // The global rules of OpenCode. It follows the XDG layout on Windows too, so this is not below %APPDATA%. Whoever sets
    // XDG_CONFIG_HOME has to name the file in the settings.
    same(
        "opencode",
        "~/.config/opencode/AGENTS.md",
        r"%USERPROFILE%\.config\opencode\AGENTS.md",
    ),
    Target {
        macos: "~/Library/Application Support/Code/User/prompts/cueme_proto.instructions.md",
        prefix: &["---", "applyTo: \"**\"", "---"],
        ..same(
            "vscode",
            "~/.config/Code/User/prompts/cueme_proto.instructions.md",
            r"%APPDATA%\Code\User\prompts\cueme_proto.instructions.md",
        )
    },
    same(
        "windsurf",
        "~/.codeium/windsurf/memories/global_rules.md",
        r"%USERPROFILE%\.codeium\windsurf\memories\global_rules.md",
    ),
];

const fn same(agent: &'static str, unix: &'static str, windows: &'static str) -> Target {
    Target {
        agent,
        linux: unix,
        macos: unix,
        windows,
        prefix: &[],
        runtime: &[],
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
