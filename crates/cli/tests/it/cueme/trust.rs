//! File permissions that `cueme` requires, and isolation of a started hub from its caller.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

use super::AgentShell;
use super::fresh_machine::{FreshMachine, pid_of};
use crate::harness::*;

fn set_mode(path: &Path, mode: u32) {
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).expect("set the mode");
}

#[tokio::test(flavor = "multi_thread")]
async fn files_open_to_other_users_are_not_trusted() {
    let hub = Hub::start().await;
    let shell = AgentShell::with_hub(&hub);
    for (path, mode, usual) in [(hub.data(), 0o777, 0o700), (hub.data().join("hub.json"), 0o644, 0o600)] {
        set_mode(&path, mode);
        let warning = format!("{} is open to other users (mode {mode:03o})", path.display());
        let stderr = shell.run(&["join", "codex"], "").fails(1);
        assert!(stderr.contains(&warning) && stderr.contains("chmod"), "{stderr}");
        let stderr = hub.cli(&["inbox", "--json"]).fails(1);
        assert!(stderr.contains(&warning), "{stderr}");
        set_mode(&path, usual);
        shell.run(&["join", "codex"], "").ok();
    }
}

#[test]
fn no_hub_is_started_in_a_world_writable_directory() {
    let machine = FreshMachine::new();
    std::fs::create_dir(machine.data()).expect("a directory");
    set_mode(&machine.data(), 0o777);
    let stderr = machine.shell().run(&["join", "codex"], "").fails(1);
    assert!(stderr.contains("open to other users"), "{stderr}");
    assert_eq!(
        std::fs::read_dir(machine.data()).expect("the directory exists").count(),
        0
    );
}

/// Skipped unless the test may chown files.
#[tokio::test(flavor = "multi_thread")]
async fn files_of_another_user_are_not_trusted() {
    let hub = Hub::start().await;
    if std::os::unix::fs::chown(hub.data(), Some(65_534), None).is_err() {
        return;
    }
    let stderr = AgentShell::with_hub(&hub).run(&["join", "codex"], "").fails(1);
    assert!(stderr.contains("belongs to another user"), "{stderr}");
    let machine = FreshMachine::new();
    std::fs::create_dir(machine.data()).expect("a directory");
    std::os::unix::fs::chown(machine.data(), Some(65_534), None).expect("chown");
    let mut serve = countersign(&machine.home());
    serve
        .args(["serve", "--listen", "127.0.0.1:0", "--data"])
        .arg(machine.data());
    let stderr = Process::spawn(serve, "").finish().fails(1);
    assert!(stderr.contains("belongs to another user"), "{stderr}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_started_hub_inherits_no_secrets_or_descriptors() {
    let machine = FreshMachine::new();
    let pipe = machine.home().join("pipe");
    assert!(
        Command::new("mkfifo")
            .arg(&pipe)
            .status()
            .is_ok_and(|status| status.success())
    );
    let shell = machine
        .shell()
        .env("SECRET_API_KEY", "sk-123")
        .env("LC_ALL", "C.UTF-8")
        .env("RUST_LOG", "info");
    let cueme = shell.command(&["join", "codex"]);
    let mut wrapper = Command::new("sh");
    wrapper
        .env_clear()
        .envs(cueme.get_envs().filter_map(|(name, value)| Some((name, value?))));
    let line = "exec 9<>\"$0\"; exec \"$@\"";
    wrapper
        .args(["-c", line])
        .arg(&pipe)
        .arg(cueme.get_program())
        .args(cueme.get_args())
        .current_dir(machine.home());
    Process::spawn(wrapper, "").finish().ok();
    let process = format!("/proc/{}", pid_of(&machine.hub()));
    let environment = std::fs::read(format!("{process}/environ")).expect("its environment");
    let environment = String::from_utf8_lossy(&environment).into_owned();
    assert!(!environment.contains("SECRET_API_KEY"), "{environment}");
    assert!(
        environment.contains("LC_ALL=C.UTF-8") && environment.contains("RUST_LOG=info"),
        "{environment}"
    );
    let open = std::fs::read_dir(format!("{process}/fd")).expect("its descriptors");
    let open: Vec<_> = open
        .filter_map(|entry| std::fs::read_link(entry.ok()?.path()).ok())
        .collect();
    assert!(!open.contains(&pipe), "{open:?}");
}

#[test]
fn an_unencrypted_remote_url_is_warned_about_once() {
    let machine = FreshMachine::new();
    let warning = "reached without encryption";
    let shell_for = |url: &str| {
        machine
            .shell()
            .env("COUNTERSIGN_URL", url)
            .env("COUNTERSIGN_TOKEN", "cst_whatever")
    };
    let plain = shell_for("http://hub.invalid:7422").run(&["join", "codex"], "");
    assert_eq!(plain.stderr.matches(warning).count(), 1, "{plain:?}");
    for url in ["https://hub.invalid", "http://127.0.0.1:1"] {
        let ran = shell_for(url).run(&["join", "codex"], "");
        assert_eq!(ran.stderr.matches(warning).count(), 0, "{ran:?}");
    }
    let mut person = countersign(&machine.home());
    person
        .args(["inbox", "--json"])
        .env("COUNTERSIGN_URL", "http://hub.invalid")
        .env("COUNTERSIGN_TOKEN", "csp_whatever");
    let ran = Process::spawn(person, "").finish();
    assert_eq!(ran.stderr.matches(warning).count(), 1, "{ran:?}");
}
