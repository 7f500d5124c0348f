use std::collections::BTreeSet;

use super::fresh_machine::FreshMachine;
use super::{AgentShell, envelope, item, wait_for_request};
use crate::harness::*;

/// The value of one of the four `name=value` lines.
fn line<'t>(text: &'t str, name: &str) -> &'t str {
    let found = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix('='));
    found.unwrap_or_else(|| panic!("{name} in {text}"))
}

#[tokio::test(flavor = "multi_thread")]
async fn join_prints_four_lines_and_then_instructions() {
    let hub = Hub::start().await;
    let shell = AgentShell::with_hub(&hub).env("SHELL", "/usr/bin/zsh");
    let text = shell.run(&["join", " Claude-Code"], "").ok();
    let agent_id = line(&text, "agent_id");
    assert!(
        (8..=12).contains(&agent_id.len()) && agent_id.bytes().all(|byte| byte.is_ascii_lowercase()),
        "{agent_id}"
    );
    let project = shell.home.display();
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
async fn ten_concurrent_joins_get_ten_names() {
    let hub = Hub::start().await;
    let shell = AgentShell::with_hub(&hub);
    let processes: Vec<Process> = (0..10).map(|_| shell.start(&["join", "codex"], "")).collect();
    let names: BTreeSet<String> = processes
        .into_iter()
        .map(|process| line(&process.finish().ok(), "agent_id").to_owned())
        .collect();
    assert_eq!(names.len(), 10, "{names:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_shell_is_named_as_in_the_original_cueme() {
    let hub = Hub::start().await;
    let shell = AgentShell::with_hub(&hub);
    for (variable, value, terminal) in [
        ("SHELL", "/bin/bash", "bash"),
        ("SHELL", "/opt/bin/FISH", "fish"),
        ("SHELL", "nu", "nushell"),
        ("SHELL", "/bin/sh", "unknown"),
        ("WSL_DISTRO_NAME", "Debian", "bash"),
        ("TERM", "xterm", "unknown"),
    ] {
        let text = shell.clone().env(variable, value).run(&["join", "codex"], "").ok();
        assert_eq!(line(&text, "agent_terminal"), terminal, "{variable}={value}");
    }
}

#[test]
fn a_runtime_is_letters_digits_and_underscores() {
    let machine = FreshMachine::new();
    for runtime in ["日本", "a/b;c", "x\ny\u{1b}", &"x".repeat(65)] {
        let stderr = machine.shell().run(&["join", runtime], "").fails(2);
        assert!(
            stderr.contains("agent_runtime") && !stderr.contains('\u{1b}'),
            "{stderr}"
        );
    }
    assert!(!machine.data().exists());
}

#[tokio::test(flavor = "multi_thread")]
async fn an_item_shows_where_its_agent_runs() {
    let hub = Hub::start().await;
    let shell = AgentShell::with_hub(&hub).env("SHELL", "/bin/fish");
    let agent_id = shell.join();
    let _process = shell.start(&["cue", &agent_id, "-"], envelope("Where am I?"));
    let id = wait_for_request(&hub, "Where am I?").await;
    let source = item(&hub, &id).await["source"].clone();
    assert_eq!(source["runtime"], "claude_code");
    assert_eq!(source["terminal"], "fish");
    assert_eq!(source["project_dir"], shell.home.display().to_string());
}

#[test]
fn version_protocol_and_help_need_no_hub() {
    let machine = FreshMachine::new();
    let shell = machine.shell();
    assert_eq!(shell.run(&["-v"], "").ok(), format!("{}\n", env!("CARGO_PKG_VERSION")));
    assert_eq!(shell.run(&["-p"], "").ok(), shell.run(&["--protocol"], "").ok());
    for call in [&["help"][..], &["-h"], &["--help"], &[]] {
        assert!(shell.run(call, "").ok().contains("cueme cue <agent_id> -"), "{call:?}");
    }
    assert!(!machine.data().exists());
}
