//! The display name of an agent. A name given by hand wins; else an agent in a terminal is called after its runtime and
//! project, as in `Claude Code · shop`; else an agent is called by its id.

use std::collections::HashSet;
use std::fmt;

use countersign_protocol::escape;

use crate::hap::project;

pub const MAX_CHARS: usize = 80;

const SEPARATOR: &str = " · ";

/// Runtimes whose own spelling differs from their wire word.
const RUNTIMES: [(&str, &str); 9] = [
    ("claude", "Claude Code"),
    ("claude_code", "Claude Code"),
    ("codex_cli", "Codex"),
    ("copilot_cli", "Copilot CLI"),
    ("gemini_cli", "Gemini CLI"),
    ("github_copilot", "GitHub Copilot"),
    ("opencode", "OpenCode"),
    ("qwen_code", "Qwen Code"),
    ("vscode", "VS Code"),
];

/// What is known of an agent that joined from a terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct JoinedFrom<'a> {
    pub runtime: &'a str,
    pub project_dir: &'a str,
    /// Tells agents of one person apart that would look alike; 1 is not shown.
    pub number: i64,
}

pub fn display_name(id: &str, given: Option<&str>, joined: Option<JoinedFrom<'_>>) -> String {
    given
        .map(str::to_owned)
        .or_else(|| joined.and_then(automatic))
        .unwrap_or_else(|| id.to_owned())
}

/// The name from runtime, project and number; `None` if the runtime is unknown.
pub fn automatic(joined: JoinedFrom<'_>) -> Option<String> {
    let mut name = runtime_label(joined.runtime)?;
    let project = project(joined.project_dir).map(|project| escape::bare(&project));
    if let Some(project) = project.filter(|project| !project.trim().is_empty()) {
        name.push_str(SEPARATOR);
        name.extend(project.trim().chars().take(MAX_CHARS));
    }
    if joined.number > 1 {
        name.push_str(SEPARATOR);
        name.push_str(&joined.number.to_string());
    }
    Some(name)
}

/// The lowest number that makes the name of a joining agent differ from the `taken` names.
pub fn free_number(runtime: &str, project_dir: &str, taken: &HashSet<String>) -> i64 {
    let is_free = |number: &i64| {
        let joined = JoinedFrom {
            runtime,
            project_dir,
            number: *number,
        };
        automatic(joined).is_none_or(|name| !taken.contains(&name))
    };
    (1..).find(is_free).unwrap_or(1)
}

/// `claude_code` becomes `Claude Code`; a runtime without a spelling of its own gets spaces and a capital letter.
fn runtime_label(runtime: &str) -> Option<String> {
    if matches!(runtime, "" | "unknown") {
        return None;
    }
    if let Some((_, label)) = RUNTIMES.iter().find(|(word, _)| *word == runtime) {
        return Some((*label).to_owned());
    }
    let words = escape::bare(runtime).replace('_', " ");
    let mut characters = words.trim().chars();
    let first = characters.next()?;
    Some(first.to_uppercase().chain(characters).collect())
}

/// The reason why a name is refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AgentNameError {
    TooLong(usize),
    /// The name with its hidden characters escaped.
    HiddenCharacters(String),
}

impl fmt::Display for AgentNameError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooLong(count) => write!(f, "use at most {MAX_CHARS} characters; it has {count}"),
            Self::HiddenCharacters(escaped) => {
                write!(f, "use visible characters on one line; it has hidden ones: {escaped}")
            }
        }
    }
}

/// Checks a name given by hand and trims it. A blank name is `None`: the agent gets its automatic name again.
pub fn parse_given(name: &str) -> Result<Option<String>, AgentNameError> {
    let name = name.trim();
    let count = name.chars().count();
    if count > MAX_CHARS {
        return Err(AgentNameError::TooLong(count));
    }
    let escaped = escape::escape(name);
    if escaped != name {
        return Err(AgentNameError::HiddenCharacters(escaped));
    }
    Ok((!name.is_empty()).then(|| name.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn joined<'a>(runtime: &'a str, project_dir: &'a str, number: i64) -> JoinedFrom<'a> {
        JoinedFrom {
            runtime,
            project_dir,
            number,
        }
    }

    fn named(runtime: &str, project_dir: &str, number: i64) -> String {
        display_name("furpenfildfi", None, Some(joined(runtime, project_dir, number)))
    }

    #[test]
    fn a_terminal_agent_is_called_after_its_runtime_and_project() {
        assert_eq!(named("claude_code", "/home/ann/shop", 1), "Claude Code · shop");
        assert_eq!(named("claude_code", "/home/ann/shop/", 2), "Claude Code · shop · 2");
        assert_eq!(named("codex", r"C:\work\api", 1), "Codex · api");
        assert_eq!(named("my_own_tool", "/srv/x", 1), "My own tool · x");
        assert_eq!(named("codex", "", 3), "Codex · 3");
    }

    #[test]
    fn an_agent_of_an_unknown_runtime_is_called_by_its_id() {
        for runtime in ["", "unknown", "_"] {
            assert_eq!(named(runtime, "/home/ann/shop", 2), "furpenfildfi");
        }
        assert_eq!(display_name("deploybot", None, None), "deploybot");
    }

    #[test]
    fn a_name_given_by_hand_wins() {
        let name = display_name("furpenfildfi", Some("Shop builder"), Some(joined("codex", "/shop", 2)));
        assert_eq!(name, "Shop builder");
    }

    #[test]
    fn hidden_characters_of_a_directory_are_not_part_of_the_name() {
        assert_eq!(named("codex", "/tmp/sh\u{202e}op\u{200b}\n", 1), "Codex · shop");
        assert_eq!(named("codex", "/tmp/\u{202e}", 1), "Codex");
        assert!(named("codex", &"x".repeat(500), 1).chars().count() < 100);
    }

    #[test]
    fn agents_that_would_look_alike_are_numbered() {
        let number = |taken: &[&str]| {
            let taken = taken.iter().map(|name| (*name).to_owned()).collect();
            free_number("codex", "/home/ann/shop", &taken)
        };
        assert_eq!(number(&[]), 1);
        assert_eq!(number(&["Codex · api", "Codex"]), 1);
        assert_eq!(number(&["Codex · shop"]), 2);
        assert_eq!(number(&["Codex · shop", "Codex · shop · 2", "Codex · shop · 4"]), 3);
    }

    #[test]
    fn a_given_name_is_one_visible_line_of_bounded_length() {
        assert_eq!(
            parse_given("  Shop builder 🚀 "),
            Ok(Some("Shop builder 🚀".to_owned()))
        );
        assert_eq!(parse_given(" \n"), Ok(None));
        assert_eq!(parse_given(&"é".repeat(MAX_CHARS)), Ok(Some("é".repeat(MAX_CHARS))));
        assert_eq!(parse_given(&"é".repeat(81)), Err(AgentNameError::TooLong(81)));
        for hostile in ["a\u{202e}b", "a\nb", "a\u{1b}[2Jb", "a\u{200b}b", "\u{2066}x", "a\tb"] {
            let error = parse_given(hostile).expect_err(hostile).to_string();
            assert!(error.contains('\\'), "{error}");
        }
    }
}
