use std::process::{Command, Stdio};

use crate::harness::*;

fn run(args: &[&str]) -> CommandOutput {
    let scratch = Scratch::new();
    let mut command = countersign(&scratch.home());
    command.args(args);
    Process::spawn(command, "").finish()
}

#[tokio::test(flavor = "multi_thread")]
async fn the_help_has_groups_and_the_exit_codes() {
    let main = run(&["--help"]).ok();
    for group in [
        "Answer:\n  inbox",
        "Ask:\n  ask",
        "Connect:\n  agent",
        "Run:\n  run",
        "Administer:\n  serve",
    ] {
        assert!(main.contains(group), "{group}: {main}");
    }
    let ask = run(&["ask", "--help"]).ok();
    assert!(ask.contains("Exit codes:") && ask.contains("Examples:"), "{ask}");
    assert!(run(&["--color", "always", "--help"]).ok().contains('\u{1b}'));
    assert!(!run(&["--help"]).ok().contains('\u{1b}'), "no colours in a pipe");
}

#[tokio::test(flavor = "multi_thread")]
async fn completions_are_valid_for_bash_and_man_pages_are_written() {
    let script = run(&["completions", "bash"]).ok();
    let scratch = Scratch::new();
    let file = scratch.write("completions.bash", &script);
    let checked = Command::new("bash").arg("-n").arg(&file).stdin(Stdio::null()).status();
    assert!(checked.is_ok_and(|status| status.success()));
    assert!(script.contains("inbox"));
    for shell in ["zsh", "fish"] {
        assert!(run(&["completions", shell]).ok().contains("inbox"), "{shell}");
    }
    let main = run(&["man"]).ok();
    assert!(main.contains(".TH") && main.contains("countersign ask"), "{main}");
    let place = |wanted: &str| main.find(wanted).unwrap_or_else(|| panic!("{wanted}: {main}"));
    assert!(place(".SS Answer\n.TP\n\\fBcountersign\\-inbox\\fR(1)") < place(".SS Ask"));
    assert!(place(".SS Administer") < place(".SH OPTIONS"));
    let directory = scratch.path("man");
    run(&["man", &directory.display().to_string()]).ok();
    let page = std::fs::read_to_string(directory.join("countersign-ask.1")).expect("a page per command");
    assert!(page.contains("timeout"), "{page}");
    let written = std::fs::read_to_string(directory.join("countersign.1")).expect("the main page");
    assert_eq!(written, main);
}
