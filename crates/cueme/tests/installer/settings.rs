//! Which agents there are, which file each has, and what a person's own settings change about it.

use std::fs;

use serde_json::{Value, json};

use super::{BEGIN, CLAUDE, Person, VSCODE};

#[test]
fn every_verb_makes_the_settings_and_none_replaces_them() {
    for verb in [
        "claude",
        "apply claude",
        "rm claude",
        "remove claude",
        "path claude",
        "ls",
        "init",
    ] {
        let person = Person::new();
        person.cueme(&format!("proto {verb}")).ok();
        let made: Value = serde_json::from_str(&person.read(".cue/cueme.json")).expect("JSON");
        assert_eq!(
            made["cueme.proto.path"]["linux.claude"], "~/.claude/CLAUDE.md",
            "{verb}"
        );
        assert_eq!(
            made["cueme.proto.prefix"]["vscode"],
            json!(["---", "applyTo: \"**\"", "---"])
        );
        assert!(made["cueme.proto.runtime"]["codex"].is_array());
        assert!(made.get("cueme.proto.protocol_path").is_none(), "the text is built in");
        let own = r#"{"cueme.language": "de"}"#;
        person.write(".cue/cueme.json", own);
        person.cueme(&format!("proto {verb}")).ok();
        assert_eq!(person.read(".cue/cueme.json"), own, "{verb}");
        assert!(!person.home(".local").exists(), "no hub is started");
    }
}

#[test]
fn init_says_whether_it_made_them() {
    let person = Person::new();
    let file = person.home(".cue/cueme.json").display().to_string();
    assert_eq!(person.cueme("proto init").ok(), format!("ok: created {file}\n"));
    assert!(person.cueme("proto init").ok().starts_with(&format!("ok: kept {file}")));
}

#[test]
fn every_agent_has_its_file() {
    let person = Person::new();
    let listed = person.cueme("proto ls").ok();
    assert_eq!(listed, "claude\ncodex\ncursor\nkiro\nopencode\nvscode\nwindsurf\n");
    for (agent, file) in [
        ("claude", CLAUDE),
        ("codex", ".codex/AGENTS.md"),
        ("kiro", ".kiro/steering/cueme_proto.md"),
        ("opencode", ".config/opencode/AGENTS.md"),
        ("vscode", VSCODE),
        ("windsurf", ".codeium/windsurf/memories/global_rules.md"),
    ] {
        let path = person.cueme(&format!("proto path {agent}")).ok();
        assert_eq!(path, format!("{}\n", person.home(file).display()));
    }
    let in_project = person.0.path().join("project/.cursor/rules/cueme_proto.mdc");
    assert_eq!(
        person.cueme("proto path cursor").ok(),
        format!("{}\n", in_project.display())
    );
}

#[test]
fn settings_name_other_files_and_other_agents() {
    let person = Person::new();
    person.settings(&json!({
        "cueme.proto.path": {"linux.claude": "~/%RULES%/claude.md", "linux.mine": "here.md", "windows.far": "C:\\x"},
        "cueme.proto.prefix": {"mine": ["# Mine"], "near": []},
    }));
    let listed = person.cueme("proto ls").ok();
    assert_eq!(
        listed,
        "claude\ncodex\ncursor\nfar\nkiro\nmine\nnear\nopencode\nvscode\nwindsurf\n"
    );
    let path = person.cueme("proto path claude").ok();
    assert_eq!(path, format!("{}\n", person.home("rules/claude.md").display()));
    person.cueme("proto apply mine").ok();
    let text = fs::read_to_string(person.0.path().join("project/here.md")).expect("a file in the project");
    assert!(text.starts_with(&format!("# Mine\n\n{BEGIN}\n")), "{text}");
}

#[test]
fn an_agent_without_a_file_is_refused() {
    let person = Person::new();
    for verb in ["", "apply ", "rm ", "remove ", "path "] {
        let words = person.cueme(&format!("proto {verb}nobody")).fails(2);
        assert!(
            words.starts_with("error: target path not configured: linux.nobody"),
            "{words}"
        );
        assert!(
            words.contains("claude") && words.contains("cueme.json"),
            "it says what to do: {words}"
        );
    }
    for line in ["proto", "proto apply", "proto path", "proto apply claude codex"] {
        assert!(person.cueme(line).fails(2).contains("usage: cueme proto"), "{line}");
    }
}

#[test]
fn settings_that_cannot_be_used_are_refused_in_one_line() {
    let person = Person::new();
    let bad = r#"{"cueme.proto.path": {"linux.mine": "~/mine.md"}}"#;
    for (settings, line, wanted) in [
        ("{", "proto apply claude", "not JSON"),
        ("[1]", "proto ls", "must be a JSON object"),
        ("{", "proto init", "not JSON"),
        (bad, "proto apply mine", "prefix not configured"),
        (
            r#"{"cueme.proto.path": 1}"#,
            "proto path claude",
            "cueme.proto.path must be an object",
        ),
        (
            r#"{"cueme.proto.prefix": {"claude": 1}}"#,
            "proto claude",
            "cueme.proto.prefix",
        ),
        (
            r#"{"cueme.proto.protocol_path": "~/none.md"}"#,
            "proto apply claude",
            "none.md",
        ),
        (
            r#"{"cueme.proto.protocol_path": "~"}"#,
            "proto apply claude",
            "is not a file",
        ),
        (
            r#"{"cueme.proto.path": {"linux.claude": "%NOWHERE%/x"}}"#,
            "proto apply claude",
            "%NOWHERE%",
        ),
    ] {
        person.write(".cue/cueme.json", settings);
        let words = person.cueme(line).fails(2);
        assert!(
            words.starts_with("error: ") && words.contains(wanted),
            "{settings}: {words}"
        );
        assert_eq!(words.lines().count(), 1, "{words}");
        assert_eq!(person.read(".cue/cueme.json"), settings);
        assert!(!person.home(CLAUDE).exists() && !person.home("mine.md").exists());
    }
}

#[test]
fn the_text_that_came_with_the_original_is_not_installed() {
    let person = Person::new();
    person.settings(&json!({"cueme.proto.protocol_path": "/usr/lib/node_modules/cueme/protocol.md"}));
    let ran = person.cueme("proto apply claude");
    assert!(
        ran.stderr.starts_with("note: ") && ran.stderr.contains("built-in"),
        "{ran:?}"
    );
    ran.ok();
    assert!(person.read(CLAUDE).contains(person.cueme("-p").ok().trim_end()));
}

#[test]
fn cursor_is_told_to_be_one_projects_affair() {
    let person = Person::new();
    let ran = person.cueme("proto apply cursor");
    assert!(ran.stderr.contains("every project"), "{ran:?}");
    ran.ok();
    assert!(person.0.path().join("project/.cursor/rules/cueme_proto.mdc").exists());
}
