//! The known agents, their files, and the user's settings for both.

use std::fs;

use serde_json::{Value, json};

use super::{BEGIN, CLAUDE, VSCODE, Workspace};

#[test]
fn every_verb_creates_missing_settings_and_replaces_none() {
    for verb in [
        "claude",
        "apply claude",
        "rm claude",
        "remove claude",
        "path claude",
        "ls",
        "init",
    ] {
        let workspace = Workspace::new();
        workspace.cueme(&format!("proto {verb}")).ok();
        let created: Value = serde_json::from_str(&workspace.read(".cue/cueme.json")).expect("JSON");
        assert_eq!(
            created["cueme.proto.path"]["linux.claude"], "~/.claude/CLAUDE.md",
            "{verb}"
        );
        assert_eq!(
            created["cueme.proto.prefix"]["vscode"],
            json!(["---", "applyTo: \"**\"", "---"])
        );
        assert!(created["cueme.proto.runtime"]["codex"].is_array());
        assert!(
            created.get("cueme.proto.protocol_path").is_none(),
            "the text is built in"
        );
        let own = r#"{"cueme.language": "de"}"#;
        workspace.write(".cue/cueme.json", own);
        workspace.cueme(&format!("proto {verb}")).ok();
        assert_eq!(workspace.read(".cue/cueme.json"), own, "{verb}");
        assert!(!workspace.home(".local").exists(), "no hub is started");
    }
}

#[test]
fn init_says_whether_it_created_the_settings() {
    let workspace = Workspace::new();
    let file = workspace.home(".cue/cueme.json").display().to_string();
    assert_eq!(workspace.cueme("proto init").ok(), format!("ok: created {file}\n"));
    assert!(
        workspace
            .cueme("proto init")
            .ok()
            .starts_with(&format!("ok: kept {file}"))
    );
}

#[test]
fn every_agent_has_its_file() {
    let workspace = Workspace::new();
    let listed = workspace.cueme("proto ls").ok();
    assert_eq!(listed, "claude\ncodex\ncursor\nkiro\nopencode\nvscode\nwindsurf\n");
    for (agent, file) in [
        ("claude", CLAUDE),
        ("codex", ".codex/AGENTS.md"),
        ("kiro", ".kiro/steering/cueme_proto.md"),
        ("opencode", ".config/opencode/AGENTS.md"),
        ("vscode", VSCODE),
        ("windsurf", ".codeium/windsurf/memories/global_rules.md"),
    ] {
        let path = workspace.cueme(&format!("proto path {agent}")).ok();
        assert_eq!(path, format!("{}\n", workspace.home(file).display()));
    }
    let in_project = workspace.0.path().join("project/.cursor/rules/cueme_proto.mdc");
    assert_eq!(
        workspace.cueme("proto path cursor").ok(),
        format!("{}\n", in_project.display())
    );
}

#[test]
fn settings_can_add_agents_and_change_files() {
    let workspace = Workspace::new();
    workspace.settings(&json!({
        "cueme.proto.path": {"linux.claude": "~/%RULES%/claude.md", "linux.mine": "here.md", "windows.far": "C:\\x"},
        "cueme.proto.prefix": {"mine": ["# Mine"], "near": []},
    }));
    let listed = workspace.cueme("proto ls").ok();
    assert_eq!(
        listed,
        "claude\ncodex\ncursor\nfar\nkiro\nmine\nnear\nopencode\nvscode\nwindsurf\n"
    );
    let path = workspace.cueme("proto path claude").ok();
    assert_eq!(path, format!("{}\n", workspace.home("rules/claude.md").display()));
    workspace.cueme("proto apply mine").ok();
    let text = fs::read_to_string(workspace.0.path().join("project/here.md")).expect("a file in the project");
    assert!(text.starts_with(&format!("# Mine\n\n{BEGIN}\n")), "{text}");
}

#[test]
fn an_agent_without_a_file_is_refused() {
    let workspace = Workspace::new();
    for verb in ["", "apply ", "rm ", "remove ", "path "] {
        let stderr = workspace.cueme(&format!("proto {verb}unknown")).fails(2);
        assert!(
            stderr.starts_with("error: target path not configured: linux.unknown"),
            "{stderr}"
        );
        assert!(
            stderr.contains("claude") && stderr.contains("cueme.json"),
            "the error says what to do: {stderr}"
        );
    }
    for line in ["proto", "proto apply", "proto path", "proto apply claude codex"] {
        assert!(workspace.cueme(line).fails(2).contains("usage: cueme proto"), "{line}");
    }
}

#[test]
fn invalid_settings_are_refused_in_one_line() {
    let workspace = Workspace::new();
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
        workspace.write(".cue/cueme.json", settings);
        let stderr = workspace.cueme(line).fails(2);
        assert!(
            stderr.starts_with("error: ") && stderr.contains(wanted),
            "{settings}: {stderr}"
        );
        assert_eq!(stderr.lines().count(), 1, "{stderr}");
        assert_eq!(workspace.read(".cue/cueme.json"), settings);
        assert!(!workspace.home(CLAUDE).exists() && !workspace.home("mine.md").exists());
    }
}

#[test]
fn the_protocol_text_of_the_original_cueme_is_not_installed() {
    let workspace = Workspace::new();
    workspace.settings(&json!({"cueme.proto.protocol_path": "/usr/lib/node_modules/cueme/protocol.md"}));
    let output = workspace.cueme("proto apply claude");
    assert!(
        output.stderr.starts_with("note: ") && output.stderr.contains("built-in"),
        "{output:?}"
    );
    output.ok();
    assert!(workspace.read(CLAUDE).contains(workspace.cueme("-p").ok().trim_end()));
}

#[test]
fn applying_to_cursor_notes_that_it_is_per_project() {
    let workspace = Workspace::new();
    let output = workspace.cueme("proto apply cursor");
    assert!(output.stderr.contains("every project"), "{output:?}");
    output.ok();
    assert!(
        workspace
            .0
            .path()
            .join("project/.cursor/rules/cueme_proto.mdc")
            .exists()
    );
}
