use std::collections::BTreeSet;

use super::fresh::Fresh;
use super::{Desk, envelope, item, waited_for};
use crate::harness::*;

/// The value of one of the four lines.
fn line<'t>(text: &'t str, name: &str) -> &'t str {
    let found = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix('='));
    found.unwrap_or_else(|| panic!("{name} in {text}"))
}

#[tokio::test(flavor = "multi_thread")]
async fn four_lines_come_first_and_then_how_to_go_on() {
    let hub = Hub::start().await;
    let desk = Desk::beside(&hub).env("SHELL", "/usr/bin/zsh");
    let text = desk.run(&["join", " Claude-Code"], "").ok();
    let agent_id = line(&text, "agent_id");
    assert!(
        (8..=12).contains(&agent_id.len()) && agent_id.bytes().all(|byte| byte.is_ascii_lowercase()),
        "{agent_id}"
    );
    let project = desk.home.display();
    let first =
        format!("agent_id={agent_id}\nproject_dir={project}\nagent_terminal=zsh\nagent_runtime=claude_code\n\n");
    assert!(text.starts_with(&first), "{text}");
    let rest = &text[first.len()..];
    assert!(
        rest.contains(&format!("cueme cue {agent_id} -")) && rest.contains("\n<cueme_prompt>\n"),
        "{rest}"
    );
    assert!(rest.contains("\n<cueme_payload>\n"), "{rest}");
    let joined = hub.owner.get("/v1/terminals").await.expect(200);
    assert_eq!(joined["terminals"][0]["agent_id"], agent_id);
}

#[tokio::test(flavor = "multi_thread")]
async fn ten_that_join_at_once_have_ten_names() {
    let hub = Hub::start().await;
    let desk = Desk::beside(&hub);
    let processes: Vec<Process> = (0..10).map(|_| desk.start(&["join", "codex"], "")).collect();
    let names: BTreeSet<String> = processes
        .into_iter()
        .map(|process| line(&process.finish().ok(), "agent_id").to_owned())
        .collect();
    assert_eq!(names.len(), 10, "{names:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_shell_is_told_as_the_original_names_it() {
    let hub = Hub::start().await;
    let desk = Desk::beside(&hub);
    for (variable, value, terminal) in [
        ("SHELL", "/bin/bash", "bash"),
        ("SHELL", "/opt/bin/FISH", "fish"),
        ("SHELL", "nu", "nushell"),
        ("SHELL", "/bin/sh", "unknown"),
        ("WSL_DISTRO_NAME", "Debian", "bash"),
        ("TERM", "xterm", "unknown"),
    ] {
        let text = desk.clone().env(variable, value).run(&["join", "codex"], "").ok();
        assert_eq!(line(&text, "agent_terminal"), terminal, "{variable}={value}");
    }
}

#[test]
fn a_runtime_is_letters_digits_and_underscores() {
    let fresh = Fresh::new();
    for runtime in ["日本", "a/b;c", "x\ny\u{1b}", &"x".repeat(65)] {
        let said = fresh.desk().run(&["join", runtime], "").fails(2);
        assert!(said.contains("agent_runtime") && !said.contains('\u{1b}'), "{said}");
    }
    assert!(!fresh.data().exists());
}

#[tokio::test(flavor = "multi_thread")]
async fn where_it_runs_is_shown_with_what_it_asks() {
    let hub = Hub::start().await;
    let desk = Desk::beside(&hub).env("SHELL", "/bin/fish");
    let agent_id = desk.join();
    let _process = desk.start(&["cue", &agent_id, "-"], envelope("Where am I?"));
    let id = waited_for(&hub, "Where am I?").await;
    let source = item(&hub, &id).await["source"].clone();
    assert_eq!(source["runtime"], "claude_code");
    assert_eq!(source["terminal"], "fish");
    assert_eq!(source["project_dir"], desk.home.display().to_string());
}

#[test]
fn what_needs_no_hub_works_without_one() {
    let fresh = Fresh::new();
    let desk = fresh.desk();
    assert_eq!(desk.run(&["-v"], "").ok(), format!("{}\n", env!("CARGO_PKG_VERSION")));
    assert_eq!(desk.run(&["-p"], "").ok(), desk.run(&["--protocol"], "").ok());
    for call in [&["help"][..], &["-h"], &["--help"], &[]] {
        assert!(desk.run(call, "").ok().contains("cueme cue <agent_id> -"), "{call:?}");
    }
    assert!(!fresh.data().exists());
}
