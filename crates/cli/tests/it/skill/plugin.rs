//! Plugins are what Claude Code's own validator and installer accept.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::build;
use crate::harness::*;

/// Claude Code with an empty home: no account, no settings.
fn claude(home: &Path, args: &[&str]) -> CommandOutput {
    let program = std::env::var("COUNTERSIGN_TEST_CLAUDE").expect("./test says where Claude Code is");
    let mut command = Command::new(program);
    command
        .env_clear()
        .env("HOME", home)
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .current_dir(home)
        .args(args);
    Process::spawn(command, "").finish()
}

fn files_below(directory: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(directory).into_iter().flatten().flatten();
    let found = entries.map(|entry| entry.path());
    found
        .flat_map(|path| if path.is_dir() { files_below(&path) } else { vec![path] })
        .collect()
}

/// Validates the marketplace at `root`, installs its plugin and returns the names of the files that a user gets.
fn installed(scratch: &Scratch, root: &Path, plugin: &str) -> Vec<String> {
    let home = scratch.home();
    let root = root.display().to_string();
    claude(&home, &["plugin", "validate", "--strict", &root]).ok();
    claude(&home, &["plugin", "marketplace", "add", &root]).ok();
    claude(&home, &["plugin", "install", &format!("{plugin}@{plugin}")]).ok();
    let cache = home
        .join(".claude/plugins/cache")
        .join(plugin)
        .join(plugin)
        .join("0.1.0");
    let mut names: Vec<String> = files_below(&cache)
        .iter()
        .filter_map(|path| path.strip_prefix(&cache).ok())
        .map(|path| path.display().to_string())
        .collect();
    names.sort();
    names
}

#[test]
fn our_own_plugin_is_valid_and_small() {
    let repository = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let repository = repository.canonicalize().expect("the repository");
    let scratch = Scratch::new();
    let plugin = repository.join("plugin").display().to_string();
    claude(&scratch.home(), &["plugin", "validate", "--strict", &plugin]).ok();
    assert_eq!(
        installed(&scratch, &repository, "countersign"),
        [
            ".claude-plugin/plugin.json",
            "skills/build-ask/SKILL.md",
            "skills/build-notify/SKILL.md",
            "skills/build-task/SKILL.md"
        ]
    );
    assert!(!repository.join("marketplace.json").exists());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_built_plugin_is_valid_and_installs() {
    let hub = Hub::start().await;
    let out = hub.scratch().path("out");
    let output = build(&hub, "ask --mode push --to human:ann --plugin").ok();
    for line in [
        format!("/plugin marketplace add {}", out.display()),
        "/plugin install acme-a2h@acme-a2h".to_owned(),
        "/acme-a2h:acme-ask".to_owned(),
        format!("claude plugin validate {}", out.display()),
    ] {
        assert!(output.contains(&line), "{line}: {output}");
    }
    build(&hub, "notify --plugin").ok();
    assert_eq!(
        installed(hub.scratch(), &out, "acme-a2h"),
        [
            ".claude-plugin/marketplace.json",
            ".claude-plugin/plugin.json",
            "skills/acme-ask/SKILL.md",
            "skills/acme-notify/SKILL.md"
        ]
    );
}
