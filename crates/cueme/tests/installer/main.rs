//! `cueme proto` writes into files that belong to people: it changes its own blocks and nothing else. None of it needs a hub.

mod run;
mod settings;
mod text;

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};

use run::{Ran, run};
use tempfile::TempDir;

const BEGIN: &str = "<!-- HUMAN_AGENT_PROTO_BEGIN -->";
const END: &str = "<!-- HUMAN_AGENT_PROTO_END -->";
const RUNTIME_BEGIN: &str = "<!-- HUMAN_AGENT_RUNTIME_BEGIN -->";
const RUNTIME_END: &str = "<!-- HUMAN_AGENT_RUNTIME_END -->";

/// A home of its own, and a project in which the commands are run.
struct Person(TempDir);

impl Person {
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

    fn cueme(&self, line: &str) -> Ran {
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

    /// The protocol is two words long, so that whole files can be compared.
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
fn a_fresh_file_gets_what_is_printed_before() {
    let person = Person::new();
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
        let printed = person.cueme(&format!("proto {agent}")).ok();
        let path = person.home(file);
        assert!(!path.exists(), "printing writes nothing");
        let said = person.cueme(&format!("proto apply {agent}")).ok();
        assert_eq!(said, format!("ok: applied to {} ({changes})\n", path.display()));
        assert_eq!(person.read(file), printed);
        assert!(
            printed.contains(person.cueme("-p").ok().trim_end()),
            "the text of cueme -p stands in it"
        );
    }
}

#[test]
fn front_matter_comes_first() {
    let person = Person::new();
    assert!(
        person
            .cueme("proto vscode")
            .ok()
            .starts_with(&format!("---\napplyTo: \"**\"\n---\n\n{BEGIN}\n"))
    );
    let cursor = person.cueme("proto cursor").ok();
    let (front, _) = cursor.split_once(BEGIN).expect("a block");
    assert!(
        front.starts_with("---\n") && front.contains("\nalwaysApply: true\n") && front.ends_with("---\n\n"),
        "{front}"
    );
    person.write(VSCODE, "mine\n");
    person.cueme("proto apply vscode").ok();
    assert!(person.read(VSCODE).starts_with("---\napplyTo: \"**\"\n---\n\nmine\n\n"));
}

#[test]
fn applying_twice_changes_nothing() {
    let person = Person::new();
    person.write(CLAUDE, "# Mine\n");
    person.cueme("proto apply claude").ok();
    let before = fs::metadata(person.home(CLAUDE)).expect("the file");
    let said = person.cueme("proto apply claude").ok();
    assert!(
        said.ends_with("(prefix=skipped, proto=unchanged, runtime=unchanged)\n"),
        "{said}"
    );
    let after = fs::metadata(person.home(CLAUDE)).expect("the file");
    assert_eq!(
        (before.ino(), before.mtime_nsec()),
        (after.ino(), after.mtime_nsec()),
        "not even written"
    );
}

#[test]
fn what_people_wrote_stays_around_the_blocks() {
    let person = Person::new();
    person.short_protocol();
    person.write(CLAUDE, "# Mine, without an end");
    person.cueme("proto apply claude").ok();
    let whole = format!("# Mine, without an end\n\n{}\n{}", proto_block(), runtime_block());
    assert_eq!(person.read(CLAUDE), whole);
    person.write(
        CLAUDE,
        &format!("{whole}\n# Also mine\n").replace("Ask first.", "Old words."),
    );
    let said = person.cueme("proto apply claude").ok();
    assert!(
        said.ends_with("(prefix=skipped, proto=updated, runtime=unchanged)\n"),
        "{said}"
    );
    assert_eq!(person.read(CLAUDE), format!("{whole}\n# Also mine\n"));
}

#[test]
fn older_markers_are_found_and_set_right() {
    let person = Person::new();
    person.short_protocol();
    person.write(
        CLAUDE,
        "a\n<!--HUAMN_AGENT_PROTO_BEGIN  -->\nold\n<!--  HUAMN_AGENT_PROTO_END-->\nb\n",
    );
    let said = person.cueme("proto apply claude").ok();
    assert!(
        said.ends_with("(prefix=skipped, proto=updated, runtime=added)\n"),
        "{said}"
    );
    assert_eq!(
        person.read(CLAUDE),
        format!("a\n{}\n{}b\n", proto_block(), runtime_block())
    );
}

#[test]
fn a_runtime_block_goes_when_it_is_no_longer_configured() {
    let person = Person::new();
    person.short_protocol();
    person.cueme("proto apply claude").ok();
    person.settings(&json!({"cueme.proto.protocol_path": "~/own.md", "cueme.proto.runtime": {"claude": []}}));
    let said = person.cueme("proto apply claude").ok();
    assert!(
        said.ends_with("(prefix=skipped, proto=unchanged, runtime=removed)\n"),
        "{said}"
    );
    assert_eq!(person.read(CLAUDE), proto_block());
}

#[test]
fn windows_line_endings_stay() {
    let person = Person::new();
    let all_windows = |text: &str| text.matches('\n').count() == text.matches("\r\n").count();
    person.write(CLAUDE, "# Mine\r\n\r\ntext\r\n");
    person.cueme("proto apply claude").ok();
    let whole = person.read(CLAUDE);
    assert!(
        whole.starts_with("# Mine\r\n\r\ntext\r\n\r\n<!--") && all_windows(&whole),
        "{whole:?}"
    );
    assert!(
        person
            .cueme("proto apply claude")
            .ok()
            .contains("proto=unchanged, runtime=unchanged")
    );
    person.settings(&json!({"cueme.proto.runtime": {"claude": ["one", "two"]}}));
    assert!(person.cueme("proto apply claude").ok().contains("runtime=updated"));
    assert!(all_windows(&person.read(CLAUDE)));
    person.cueme("proto rm claude").ok();
    assert_eq!(person.read(CLAUDE), "# Mine\r\n\r\ntext\r\n");
}

#[test]
fn half_a_block_is_refused_with_its_line_and_nothing_is_written() {
    let person = Person::new();
    for (text, line, marker) in [
        (format!("# Mine\n\n{BEGIN}\nold\n\n# Also mine\n"), 3, BEGIN),
        (format!("{}\n{RUNTIME_BEGIN}\n", proto_block()), 5, RUNTIME_BEGIN),
        (format!("# Mine\n{END}\n"), 2, END),
    ] {
        let path = person.write(CLAUDE, &text);
        for verb in ["apply", "rm"] {
            let words = person.cueme(&format!("proto {verb} claude")).fails(2);
            assert!(
                words.contains(&format!("{}: line {line}: {marker}", path.display())),
                "{words}"
            );
            assert_eq!(person.read(CLAUDE), text, "{verb}");
        }
    }
}

#[test]
fn removing_leaves_what_people_wrote() {
    let person = Person::new();
    for verb in ["rm", "remove"] {
        let path = person.write(CLAUDE, "# Mine\n");
        person.cueme("proto apply claude").ok();
        let said = person.cueme(&format!("proto {verb} claude")).ok();
        let changes = "prefix=skipped, proto=removed, runtime=removed, file=kept";
        assert_eq!(said, format!("ok: removed from {} ({changes})\n", path.display()));
        assert_eq!(person.read(CLAUDE), "# Mine\n");
        assert!(
            person
                .cueme(&format!("proto {verb} claude"))
                .ok()
                .starts_with("ok: nothing to remove")
        );
        assert_eq!(person.read(CLAUDE), "# Mine\n");
    }
}

#[test]
fn a_file_that_was_all_ours_goes_with_its_prefix() {
    let person = Person::new();
    for agent in ["claude", "vscode", "cursor", "opencode"] {
        person.cueme(&format!("proto apply {agent}")).ok();
        let said = person.cueme(&format!("proto rm {agent}")).ok();
        assert!(said.ends_with("file=deleted)\n"), "{said}");
        let path = person.cueme(&format!("proto path {agent}")).ok();
        assert!(!Path::new(path.trim_end()).exists(), "{agent}");
        assert!(
            person
                .cueme(&format!("proto rm {agent}"))
                .ok()
                .starts_with("ok: nothing to remove")
        );
    }
    let left = |directory: &Path| fs::read_dir(directory).expect("a directory").count();
    assert_eq!(
        left(&person.0.path().join("project")),
        0,
        "no empty directories stay behind"
    );
    assert_eq!(
        left(&person.0.path().join("home")),
        1,
        "nor at home, where the settings are"
    );
    person.write(".claude/own.md", "mine");
    person.cueme("proto apply claude").ok();
    person.cueme("proto rm claude").ok();
    assert_eq!(person.read(".claude/own.md"), "mine");
    person.write(VSCODE, "---\napplyTo: \"**\"\n---\n");
    assert!(
        person.cueme("proto rm vscode").ok().contains("prefix=removed"),
        "as the original leaves it behind"
    );
    assert!(!person.home(VSCODE).exists());
}

#[test]
fn a_link_is_followed_and_the_mode_stays() {
    let person = Person::new();
    let kept = person.write("dotfiles/claude.md", "# Mine\n");
    fs::set_permissions(&kept, fs::Permissions::from_mode(0o640)).expect("set the mode");
    fs::create_dir(person.home(".claude")).expect("make the directory");
    symlink("../dotfiles/claude.md", person.home(CLAUDE)).expect("make the link");
    person.cueme("proto apply claude").ok();
    assert!(person.home(CLAUDE).is_symlink());
    assert!(fs::read_to_string(&kept).expect("the file").contains(BEGIN));
    assert_eq!(
        fs::metadata(&kept).expect("the file").permissions().mode() & 0o777,
        0o640
    );
    assert_eq!(
        fs::read_dir(person.home("dotfiles")).expect("the directory").count(),
        1,
        "no draft is left"
    );
    person.cueme("proto rm claude").ok();
    assert_eq!(fs::read_to_string(&kept).expect("the file"), "# Mine\n");
}

#[test]
fn a_project_cannot_lead_its_rules_out_of_itself() {
    const RULES: &str = ".cursor/rules/cueme_proto.mdc";
    let person = Person::new();
    let project = person.0.path().join("project");
    let theirs = person.write(".bashrc", "export A=1\n");
    fs::create_dir_all(project.join(".cursor/rules")).expect("make the directory");
    symlink(&theirs, project.join(RULES)).expect("make the link");
    for verb in ["apply", "rm"] {
        let words = person.cueme(&format!("proto {verb} cursor")).fails(2);
        assert!(words.contains("link out of the project"), "{words}");
    }
    assert_eq!(person.read(".bashrc"), "export A=1\n");
    fs::remove_dir_all(project.join(".cursor")).expect("out of the way");
    fs::create_dir(project.join("shared")).expect("make the directory");
    symlink("shared", project.join(".cursor")).expect("make the link");
    person.cueme("proto apply cursor").ok();
    assert!(
        project.join("shared/rules/cueme_proto.mdc").is_file(),
        "a link within it is followed"
    );
}

#[test]
fn a_file_that_may_not_be_written_is_named() {
    let person = Person::new();
    let path = person.write(CLAUDE, "# Mine\n");
    let directory = path.parent().expect("a directory");
    fs::set_permissions(directory, fs::Permissions::from_mode(0o555)).expect("set the mode");
    let mut command = person.command("proto apply claude");
    // Root may write everywhere, so it has to become somebody else.
    if fs::metadata("/proc/self").expect("this process").uid() == 0 {
        command.uid(65534).gid(65534);
    }
    let words = run(command).fails(2);
    fs::set_permissions(directory, fs::Permissions::from_mode(0o755)).expect("set the mode");
    let wanted = format!("error: {} cannot be written: Permission denied", path.display());
    assert!(words.lines().any(|line| line.starts_with(&wanted)), "{words}");
    assert_eq!(person.read(CLAUDE), "# Mine\n");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o444)).expect("set the mode");
    let words = person.cueme("proto apply claude").fails(2);
    assert!(
        words.contains("read-only") && person.read(CLAUDE) == "# Mine\n",
        "{words}"
    );
}

#[test]
fn a_file_that_is_no_text_is_left_alone() {
    let person = Person::new();
    let path = person.write(CLAUDE, "");
    let bytes = b"\xFF\xFE#\0 \0M\0i\0n\0e\0";
    fs::write(&path, bytes).expect("write");
    assert!(person.cueme("proto apply claude").fails(2).contains("not UTF-8"));
    assert_eq!(fs::read(&path).expect("the file"), bytes);
    let person = Person::new();
    fs::create_dir_all(person.home(CLAUDE)).expect("a directory in its place");
    assert!(person.cueme("proto apply claude").fails(2).contains("is not a file"));
}
