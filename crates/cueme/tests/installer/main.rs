//! `cueme proto` edits files that belong to people: it changes only its own blocks. None of it needs a hub.

#![cfg(test)]

mod run;
mod settings;
mod text;

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};

use run::{CommandOutput, run};
use tempfile::TempDir;

const BEGIN: &str = "<!-- HUMAN_AGENT_PROTO_BEGIN -->";
const END: &str = "<!-- HUMAN_AGENT_PROTO_END -->";
const RUNTIME_BEGIN: &str = "<!-- HUMAN_AGENT_RUNTIME_BEGIN -->";
const RUNTIME_END: &str = "<!-- HUMAN_AGENT_RUNTIME_END -->";

/// A home directory, and a project directory in which the commands run.
struct Workspace(TempDir);

impl Workspace {
    fn new() -> Self {
        let root = TempDir::new().expect("a temporary directory");
        fs::create_dir(root.path().join("project")).expect("a project");
        fs::create_dir(root.path().join("home")).expect("a home");
        Self(root)
    }

    fn command(&self, line: &str) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_cueme"));
        command
            .env_clear()
            .env("HOME", self.0.path().join("home"))
            .env("RULES", "rules")
            .current_dir(self.0.path().join("project"));
        command.args(line.split_whitespace());
        command
    }

    fn cueme(&self, line: &str) -> CommandOutput {
        run(self.command(line))
    }

    fn home(&self, name: &str) -> PathBuf {
        self.0.path().join("home").join(name)
    }

    fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.home(name);
        fs::create_dir_all(path.parent().expect("a directory")).expect("make the directory");
        fs::write(&path, text).expect("write into the home");
        path
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.home(name)).expect("a file in the home")
    }

    fn settings(&self, settings: &Value) {
        self.write(".cue/cueme.json", &settings.to_string());
    }

    /// Sets a two-word protocol, so that tests can compare whole files.
    fn short_protocol(&self) {
        self.write("own.md", "Ask first.\n");
        self.settings(&json!({"cueme.proto.protocol_path": "~/own.md", "cueme.proto.runtime": {"claude": "Wait."}}));
    }
}

fn proto_block() -> String {
    format!("{BEGIN}\nAsk first.\n{END}\n")
}

fn runtime_block() -> String {
    format!("{RUNTIME_BEGIN}\nWait.\n{RUNTIME_END}\n")
}

const CLAUDE: &str = ".claude/CLAUDE.md";
const VSCODE: &str = ".config/Code/User/prompts/cueme_proto.instructions.md";

#[test]
fn a_new_file_gets_the_printed_text() {
    let workspace = Workspace::new();
    for (agent, file, changes) in [
        ("claude", CLAUDE, "prefix=skipped, proto=added, runtime=added"),
        (
            "codex",
            ".codex/AGENTS.md",
            "prefix=skipped, proto=added, runtime=added",
        ),
        (
            "kiro",
            ".kiro/steering/cueme_proto.md",
            "prefix=skipped, proto=added, runtime=skipped",
        ),
        ("vscode", VSCODE, "prefix=added, proto=added, runtime=skipped"),
    ] {
        let printed = workspace.cueme(&format!("proto {agent}")).ok();
        let path = workspace.home(file);
        assert!(!path.exists(), "printing writes nothing");
        let stdout = workspace.cueme(&format!("proto apply {agent}")).ok();
        assert_eq!(stdout, format!("ok: applied to {} ({changes})\n", path.display()));
        assert_eq!(workspace.read(file), printed);
        assert!(
            printed.contains(workspace.cueme("-p").ok().trim_end()),
            "it contains the text of cueme -p"
        );
    }
}

#[test]
fn front_matter_comes_first() {
    let workspace = Workspace::new();
    assert!(
        workspace
            .cueme("proto vscode")
            .ok()
            .starts_with(&format!("---\napplyTo: \"**\"\n---\n\n{BEGIN}\n"))
    );
    let cursor = workspace.cueme("proto cursor").ok();
    let (front, _) = cursor.split_once(BEGIN).expect("a block");
    assert!(
        front.starts_with("---\n") && front.contains("\nalwaysApply: true\n") && front.ends_with("---\n\n"),
        "{front}"
    );
    workspace.write(VSCODE, "mine\n");
    workspace.cueme("proto apply vscode").ok();
    assert!(
        workspace
            .read(VSCODE)
            .starts_with("---\napplyTo: \"**\"\n---\n\nmine\n\n")
    );
}

#[test]
fn applying_twice_changes_nothing() {
    let workspace = Workspace::new();
    workspace.write(CLAUDE, "# Mine\n");
    workspace.cueme("proto apply claude").ok();
    let before = fs::metadata(workspace.home(CLAUDE)).expect("the file");
    let stdout = workspace.cueme("proto apply claude").ok();
    assert!(
        stdout.ends_with("(prefix=skipped, proto=unchanged, runtime=unchanged)\n"),
        "{stdout}"
    );
    let after = fs::metadata(workspace.home(CLAUDE)).expect("the file");
    assert_eq!(
        (before.ino(), before.mtime_nsec()),
        (after.ino(), after.mtime_nsec()),
        "not even written"
    );
}

#[test]
fn text_around_the_blocks_is_kept() {
    let workspace = Workspace::new();
    workspace.short_protocol();
    workspace.write(CLAUDE, "# Mine, without an end");
    workspace.cueme("proto apply claude").ok();
    let whole = format!("# Mine, without an end\n\n{}\n{}", proto_block(), runtime_block());
    assert_eq!(workspace.read(CLAUDE), whole);
    workspace.write(
        CLAUDE,
        &format!("{whole}\n# Also mine\n").replace("Ask first.", "Old words."),
    );
    let stdout = workspace.cueme("proto apply claude").ok();
    assert!(
        stdout.ends_with("(prefix=skipped, proto=updated, runtime=unchanged)\n"),
        "{stdout}"
    );
    assert_eq!(workspace.read(CLAUDE), format!("{whole}\n# Also mine\n"));
}

#[test]
fn misspelled_old_markers_are_found_and_corrected() {
    let workspace = Workspace::new();
    workspace.short_protocol();
    workspace.write(
        CLAUDE,
        "a\n<!--HUAMN_AGENT_PROTO_BEGIN  -->\nold\n<!--  HUAMN_AGENT_PROTO_END-->\nb\n",
    );
    let stdout = workspace.cueme("proto apply claude").ok();
    assert!(
        stdout.ends_with("(prefix=skipped, proto=updated, runtime=added)\n"),
        "{stdout}"
    );
    assert_eq!(
        workspace.read(CLAUDE),
        format!("a\n{}\n{}b\n", proto_block(), runtime_block())
    );
}

#[test]
fn a_runtime_block_is_removed_when_no_longer_configured() {
    let workspace = Workspace::new();
    workspace.short_protocol();
    workspace.cueme("proto apply claude").ok();
    workspace.settings(&json!({"cueme.proto.protocol_path": "~/own.md", "cueme.proto.runtime": {"claude": []}}));
    let stdout = workspace.cueme("proto apply claude").ok();
    assert!(
        stdout.ends_with("(prefix=skipped, proto=unchanged, runtime=removed)\n"),
        "{stdout}"
    );
    assert_eq!(workspace.read(CLAUDE), proto_block());
}

#[test]
fn windows_line_endings_are_kept() {
    let workspace = Workspace::new();
    let all_windows = |text: &str| text.matches('\n').count() == text.matches("\r\n").count();
    workspace.write(CLAUDE, "# Mine\r\n\r\ntext\r\n");
    workspace.cueme("proto apply claude").ok();
    let whole = workspace.read(CLAUDE);
    assert!(
        whole.starts_with("# Mine\r\n\r\ntext\r\n\r\n<!--") && all_windows(&whole),
        "{whole:?}"
    );
    assert!(
        workspace
            .cueme("proto apply claude")
            .ok()
            .contains("proto=unchanged, runtime=unchanged")
    );
    workspace.settings(&json!({"cueme.proto.runtime": {"claude": ["one", "two"]}}));
    assert!(workspace.cueme("proto apply claude").ok().contains("runtime=updated"));
    assert!(all_windows(&workspace.read(CLAUDE)));
    workspace.cueme("proto rm claude").ok();
    assert_eq!(workspace.read(CLAUDE), "# Mine\r\n\r\ntext\r\n");
}

#[test]
fn an_unpaired_marker_is_refused_with_its_line() {
    let workspace = Workspace::new();
    for (text, line, marker) in [
        (format!("# Mine\n\n{BEGIN}\nold\n\n# Also mine\n"), 3, BEGIN),
        (format!("{}\n{RUNTIME_BEGIN}\n", proto_block()), 5, RUNTIME_BEGIN),
        (format!("# Mine\n{END}\n"), 2, END),
    ] {
        let path = workspace.write(CLAUDE, &text);
        for verb in ["apply", "rm"] {
            let stderr = workspace.cueme(&format!("proto {verb} claude")).fails(2);
            assert!(
                stderr.contains(&format!("{}: line {line}: {marker}", path.display())),
                "{stderr}"
            );
            assert_eq!(workspace.read(CLAUDE), text, "{verb}");
        }
    }
}

#[test]
fn removing_keeps_other_text() {
    let workspace = Workspace::new();
    for verb in ["rm", "remove"] {
        let path = workspace.write(CLAUDE, "# Mine\n");
        workspace.cueme("proto apply claude").ok();
        let stdout = workspace.cueme(&format!("proto {verb} claude")).ok();
        let changes = "prefix=skipped, proto=removed, runtime=removed, file=kept";
        assert_eq!(stdout, format!("ok: removed from {} ({changes})\n", path.display()));
        assert_eq!(workspace.read(CLAUDE), "# Mine\n");
        assert!(
            workspace
                .cueme(&format!("proto {verb} claude"))
                .ok()
                .starts_with("ok: nothing to remove")
        );
        assert_eq!(workspace.read(CLAUDE), "# Mine\n");
    }
}

#[test]
fn a_file_with_only_our_blocks_is_deleted() {
    let workspace = Workspace::new();
    for agent in ["claude", "vscode", "cursor", "opencode"] {
        workspace.cueme(&format!("proto apply {agent}")).ok();
        let stdout = workspace.cueme(&format!("proto rm {agent}")).ok();
        assert!(stdout.ends_with("file=deleted)\n"), "{stdout}");
        let path = workspace.cueme(&format!("proto path {agent}")).ok();
        assert!(!Path::new(path.trim_end()).exists(), "{agent}");
        assert!(
            workspace
                .cueme(&format!("proto rm {agent}"))
                .ok()
                .starts_with("ok: nothing to remove")
        );
    }
    let entries = |directory: &Path| fs::read_dir(directory).expect("a directory").count();
    assert_eq!(
        entries(&workspace.0.path().join("project")),
        0,
        "no empty directories are left"
    );
    assert_eq!(
        entries(&workspace.0.path().join("home")),
        1,
        "only the settings are left in the home directory"
    );
    workspace.write(".claude/own.md", "mine");
    workspace.cueme("proto apply claude").ok();
    workspace.cueme("proto rm claude").ok();
    assert_eq!(workspace.read(".claude/own.md"), "mine");
    workspace.write(VSCODE, "---\napplyTo: \"**\"\n---\n");
    assert!(
        workspace.cueme("proto rm vscode").ok().contains("prefix=removed"),
        "a file as the original cueme leaves it"
    );
    assert!(!workspace.home(VSCODE).exists());
}

#[test]
fn a_symlink_is_followed_and_the_mode_is_kept() {
    let workspace = Workspace::new();
    let target = workspace.write("dotfiles/claude.md", "# Mine\n");
    fs::set_permissions(&target, fs::Permissions::from_mode(0o640)).expect("set the mode");
    fs::create_dir(workspace.home(".claude")).expect("make the directory");
    symlink("../dotfiles/claude.md", workspace.home(CLAUDE)).expect("make the link");
    workspace.cueme("proto apply claude").ok();
    assert!(workspace.home(CLAUDE).is_symlink());
    assert!(fs::read_to_string(&target).expect("the file").contains(BEGIN));
    assert_eq!(
        fs::metadata(&target).expect("the file").permissions().mode() & 0o777,
        0o640
    );
    assert_eq!(
        fs::read_dir(workspace.home("dotfiles")).expect("the directory").count(),
        1,
        "no temporary file is left"
    );
    workspace.cueme("proto rm claude").ok();
    assert_eq!(fs::read_to_string(&target).expect("the file"), "# Mine\n");
}

#[test]
fn a_project_symlink_out_of_the_project_is_refused() {
    const RULES: &str = ".cursor/rules/cueme_proto.mdc";
    let workspace = Workspace::new();
    let project = workspace.0.path().join("project");
    let theirs = workspace.write(".bashrc", "export A=1\n");
    fs::create_dir_all(project.join(".cursor/rules")).expect("make the directory");
    symlink(&theirs, project.join(RULES)).expect("make the link");
    for verb in ["apply", "rm"] {
        let stderr = workspace.cueme(&format!("proto {verb} cursor")).fails(2);
        assert!(stderr.contains("link out of the project"), "{stderr}");
    }
    assert_eq!(workspace.read(".bashrc"), "export A=1\n");
    fs::remove_dir_all(project.join(".cursor")).expect("out of the way");
    fs::create_dir(project.join("shared")).expect("make the directory");
    symlink("shared", project.join(".cursor")).expect("make the link");
    workspace.cueme("proto apply cursor").ok();
    assert!(
        project.join("shared/rules/cueme_proto.mdc").is_file(),
        "a symlink within the project is followed"
    );
}

#[test]
fn an_unwritable_file_is_named() {
    let workspace = Workspace::new();
    let path = workspace.write(CLAUDE, "# Mine\n");
    let directory = path.parent().expect("a directory");
    fs::set_permissions(directory, fs::Permissions::from_mode(0o555)).expect("set the mode");
    let mut command = workspace.command("proto apply claude");
    // Root may write everywhere, so the command runs as another user.
    if fs::metadata("/proc/self").expect("this process").uid() == 0 {
        command.uid(65534).gid(65534);
    }
    let stderr = run(command).fails(2);
    fs::set_permissions(directory, fs::Permissions::from_mode(0o755)).expect("set the mode");
    let wanted = format!("error: {} cannot be written: Permission denied", path.display());
    assert!(stderr.lines().any(|line| line.starts_with(&wanted)), "{stderr}");
    assert_eq!(workspace.read(CLAUDE), "# Mine\n");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o444)).expect("set the mode");
    let stderr = workspace.cueme("proto apply claude").fails(2);
    assert!(
        stderr.contains("read-only") && workspace.read(CLAUDE) == "# Mine\n",
        "{stderr}"
    );
}

#[test]
fn a_file_that_is_not_text_is_left_alone() {
    let workspace = Workspace::new();
    let path = workspace.write(CLAUDE, "");
    let bytes = b"\xFF\xFE#\0 \0M\0i\0n\0e\0";
    fs::write(&path, bytes).expect("write");
    assert!(workspace.cueme("proto apply claude").fails(2).contains("not UTF-8"));
    assert_eq!(fs::read(&path).expect("the file"), bytes);
    let workspace = Workspace::new();
    fs::create_dir_all(workspace.home(CLAUDE)).expect("a directory in its place");
    assert!(workspace.cueme("proto apply claude").fails(2).contains("is not a file"));
}
