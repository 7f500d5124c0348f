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
        assert!(workspace.cueme(line).fails(2).contains("Usage: cueme proto"), "{line}");
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

/// The settings file that the original writes by itself: its own text by an absolute path, and its runtime texts.
fn settings_of_the_original(protocol_path: &str) -> Value {
    json!({
        "cueme.proto.path": {"linux.claude": "~/.claude/CLAUDE.md"},
        "cueme.proto.prefix": {"claude": []},
        "cueme.proto.runtime": {"claude": ["Wait for 24h."]},
        "cueme.proto.protocol_path": protocol_path,
    })
}

#[test]
fn texts_of_the_original_cueme_are_not_installed() {
    let workspace = Workspace::new();
    workspace.write("opt/cueme/package.json", r#"{"name": "cueme"}"#);
    let checkout = workspace.write("opt/cueme/protocol.md", "Call cueme cue.\n");
    let checkout = checkout.display().to_string();
    for path in [
        "/usr/lib/node_modules/cueme/protocol.md",
        "/removed/cueme/protocol.md",
        &checkout,
    ] {
        workspace.settings(&settings_of_the_original(path));
        let output = workspace.cueme("proto apply claude");
        assert!(
            output.stderr.contains(path) && output.stderr.contains("cueme migrate --settings"),
            "{output:?}"
        );
        output.ok();
        let installed = workspace.read(CLAUDE);
        assert!(installed.contains(workspace.cueme("-p").ok().trim_end()));
        assert!(
            !installed.contains("24h") && !installed.contains("Call cueme cue."),
            "{installed}"
        );
    }
}

#[test]
fn settings_of_the_original_can_be_moved() {
    let workspace = Workspace::new();
    let original = settings_of_the_original("/removed/cueme/protocol.md");
    workspace.settings(&original);
    let stdout = workspace.cueme("migrate --settings").ok();
    assert!(
        stdout.contains("removed cueme.proto.protocol_path and cueme.proto.runtime"),
        "{stdout}"
    );
    let moved: Value = serde_json::from_str(&workspace.read(".cue/cueme.json")).expect("JSON");
    assert_eq!(moved["cueme.proto.path"], original["cueme.proto.path"]);
    let kept: Value = serde_json::from_str(&workspace.read(".cue/cueme.json.original")).expect("JSON");
    assert_eq!(kept, original);
    let stdout = workspace.cueme("migrate --settings").ok();
    assert!(stdout.contains("has no settings of the original"), "{stdout}");
    assert!(workspace.cueme("migrate --settings x").fails(2).contains("--settings"));
    let applied = workspace.cueme("proto apply claude");
    assert!(!applied.stderr.contains("original"), "{applied:?}");
    assert!(!workspace.home(".local").exists(), "no hub is started");
}

#[test]
fn claude_is_told_to_wait_less_than_its_tool_allows() {
    let workspace = Workspace::new();
    let former = "Give every `cueme cue`, `cueme pause` and `cueme resume` call the longest timeout your shell tool takes, \
                  24 hours (86400000 ms) if it can: a person may answer late.";
    workspace.settings(&json!({"cueme.proto.runtime": {"claude": [former]}}));
    workspace.cueme("proto apply claude").ok();
    let installed = workspace.read(CLAUDE);
    assert!(
        installed.contains("--max-wait 9m") && installed.contains("600000 ms") && !installed.contains(former),
        "an unchanged former default is replaced: {installed}"
    );
}

#[test]
fn rules_can_go_into_the_project() {
    let workspace = Workspace::new();
    let project = workspace.0.path().join("project");
    for (agent, file) in [
        ("claude", "CLAUDE.md"),
        ("codex", "AGENTS.md"),
        ("kiro", ".kiro/steering/cueme_proto.md"),
        ("vscode", ".github/instructions/cueme_proto.instructions.md"),
    ] {
        let path = workspace.cueme(&format!("proto path {agent} --project")).ok();
        assert_eq!(path, format!("{}\n", project.join(file).display()));
        let output = workspace.cueme(&format!("proto apply {agent} --project"));
        assert_eq!(output.stderr, "", "nothing is left to offer");
        output.ok();
        let installed = fs::read_to_string(project.join(file)).expect("a file in the project");
        assert_eq!(installed, workspace.cueme(&format!("proto {agent}")).ok());
        workspace.cueme(&format!("proto rm {agent} --project")).ok();
        assert!(!project.join(file).exists());
    }
    assert!(!workspace.home(CLAUDE).exists());
    let offered = workspace.cueme("proto apply claude");
    assert!(
        offered.stderr.contains("cueme proto apply claude --project"),
        "{offered:?}"
    );
    let stderr = workspace.cueme("proto apply windsurf --project").fails(2);
    assert!(stderr.contains("leave out --project"), "{stderr}");
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
