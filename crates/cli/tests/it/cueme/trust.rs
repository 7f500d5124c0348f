//! What `cueme` believes on its own machine, and what it leaves of its caller in a hub that it starts.

use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

use super::Desk;
use super::fresh::{Fresh, pid_of};
use crate::harness::*;

fn set_mode(path: &Path, mode: u32) {
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).expect("its mode is set");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_others_can_write_to_or_read_is_not_trusted() {
    let hub = Hub::start().await;
    let desk = Desk::beside(&hub);
    for (path, mode, usual) in [(hub.data(), 0o777, 0o700), (hub.data().join("hub.json"), 0o644, 0o600)] {
        set_mode(&path, mode);
        let told = format!("{} is open to other users (mode {mode:03o})", path.display());
        let said = desk.run(&["join", "codex"], "").fails(1);
        assert!(said.contains(&told) && said.contains("chmod"), "{said}");
        let said = hub.cli(&["inbox", "--json"]).fails(1);
        assert!(said.contains(&told), "{said}");
        set_mode(&path, usual);
        desk.run(&["join", "codex"], "").ok();
    }
}

#[test]
fn no_hub_is_started_where_others_can_write() {
    let fresh = Fresh::new();
    std::fs::create_dir(fresh.data()).expect("a directory");
    set_mode(&fresh.data(), 0o777);
    let said = fresh.desk().run(&["join", "codex"], "").fails(1);
    assert!(said.contains("open to other users"), "{said}");
    assert_eq!(std::fs::read_dir(fresh.data()).expect("it is there").count(), 0);
}

/// Only whoever may give files away can try it.
#[tokio::test(flavor = "multi_thread")]
async fn what_belongs_to_another_user_is_not_trusted() {
    let hub = Hub::start().await;
    if std::os::unix::fs::chown(hub.data(), Some(65_534), None).is_err() {
        return;
    }
    let said = Desk::beside(&hub).run(&["join", "codex"], "").fails(1);
    assert!(said.contains("belongs to another user"), "{said}");
    let fresh = Fresh::new();
    std::fs::create_dir(fresh.data()).expect("a directory");
    std::os::unix::fs::chown(fresh.data(), Some(65_534), None).expect("given away");
    let mut serve = countersign(&fresh.home());
    serve
        .args(["serve", "--listen", "127.0.0.1:0", "--data"])
        .arg(fresh.data());
    let said = Process::spawn(serve, "").finish().fails(1);
    assert!(said.contains("belongs to another user"), "{said}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hub_that_was_started_has_nothing_of_its_caller() {
    let fresh = Fresh::new();
    let pipe = fresh.home().join("pipe");
    assert!(
        Command::new("mkfifo")
            .arg(&pipe)
            .status()
            .is_ok_and(|status| status.success())
    );
    let desk = fresh
        .desk()
        .env("SECRET_API_KEY", "sk-123")
        .env("LC_ALL", "C.UTF-8")
        .env("RUST_LOG", "info");
    let cueme = desk.command(&["join", "codex"]);
    let mut shell = Command::new("sh");
    shell
        .env_clear()
        .envs(cueme.get_envs().filter_map(|(name, value)| Some((name, value?))));
    let line = "exec 9<>\"$0\"; exec \"$@\"";
    shell
        .args(["-c", line])
        .arg(&pipe)
        .arg(cueme.get_program())
        .args(cueme.get_args())
        .current_dir(fresh.home());
    Process::spawn(shell, "").finish().ok();
    let process = format!("/proc/{}", pid_of(&fresh.hub()));
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
fn a_token_that_leaves_this_machine_unencrypted_is_warned_of_once() {
    let fresh = Fresh::new();
    let told = "reached without encryption";
    let elsewhere = |url: &str| {
        fresh
            .desk()
            .env("COUNTERSIGN_URL", url)
            .env("COUNTERSIGN_TOKEN", "cst_whatever")
    };
    let plain = elsewhere("http://hub.invalid:7422").run(&["join", "codex"], "");
    assert_eq!(plain.stderr.matches(told).count(), 1, "{plain:?}");
    for url in ["https://hub.invalid", "http://127.0.0.1:1"] {
        let ran = elsewhere(url).run(&["join", "codex"], "");
        assert_eq!(ran.stderr.matches(told).count(), 0, "{ran:?}");
    }
    let mut person = countersign(&fresh.home());
    person
        .args(["inbox", "--json"])
        .env("COUNTERSIGN_URL", "http://hub.invalid")
        .env("COUNTERSIGN_TOKEN", "csp_whatever");
    let ran = Process::spawn(person, "").finish();
    assert_eq!(ran.stderr.matches(told).count(), 1, "{ran:?}");
}
