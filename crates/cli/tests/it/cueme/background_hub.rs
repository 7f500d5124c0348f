//! A hub in the background: its log is bounded, and it needs no terminal.

use std::fs;
use std::process::Command;

use serde_json::json;

use super::fresh_machine::{FreshMachine, is_hub_on, pid_of, signal};
use crate::harness::*;

#[tokio::test(flavor = "multi_thread")]
async fn the_log_of_a_background_hub_is_bounded() {
    let machine = FreshMachine::new();
    machine.shell().join();
    let first = pid_of(&machine.hub());
    let command_line = fs::read_to_string(format!("/proc/{first}/cmdline")).expect("a running hub");
    assert!(command_line.contains("--log-file\0hub.log"), "{command_line}");
    signal(first, "TERM");
    eventually("the hub is gone", async || {
        (!is_hub_on(first, &machine.data())).then_some(())
    })
    .await;
    let log = machine.data().join("hub.log");
    fs::write(&log, "x".repeat(1024 * 1024 + 1)).expect("a long log");
    machine.shell().join();
    assert!(fs::metadata(&log).expect("a new log").len() < 1024 * 1024);
    let old = fs::read_to_string(machine.data().join("hub.log.old")).expect("the old log");
    assert!(old.starts_with("xxx"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_store_that_has_lost_data_is_not_started_in_the_background() {
    let machine = FreshMachine::new();
    machine.shell().join();
    let first = pid_of(&machine.hub());
    signal(first, "TERM");
    eventually("the hub is gone", async || {
        (!is_hub_on(first, &machine.data())).then_some(())
    })
    .await;
    fs::remove_file(machine.data().join("hub.db")).expect("the store is gone");
    let stderr = machine.shell().run(&["join", "codex"], "").fails(1);
    assert!(
        stderr.contains("data was lost") && stderr.contains("--accept-data-loss"),
        "{stderr}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_detached_hub_serves_after_its_terminal_is_gone() {
    let machine = FreshMachine::new();
    let binary = env!("CARGO_BIN_EXE_countersign");
    let data = machine.data();
    // The hub is not the first process of the terminal, so that it can leave.
    let line = format!(
        "RUST_LOG=debug {binary} serve --detached --listen 127.0.0.1:0 --data {}; true",
        data.display()
    );
    let mut command = Command::new("script");
    command.args(["--quiet", "--flush", "--command", &line, "/dev/null"]);
    let mut terminal = Process::spawn(command, "");
    let hub = eventually("the hub is ready", async || {
        let text = fs::read_to_string(data.join("hub.json")).ok()?;
        serde_json::from_str(&text).ok()
    })
    .await;
    let owner = machine.owner();
    owner.healthy().await;
    let added = owner
        .post(
            "/v1/admin/agents",
            &json!({"id": "bot", "signature_alg": "hmac-sha256"}),
        )
        .await
        .expect(201);
    let bot = owner.bearer(added["token"].as_str().expect("a token"));
    // Closes the terminal: from here on, every write to it fails.
    terminal.kill();
    for _ in 0..3 {
        let id = bot.accepted(&ask("bot")).await;
        owner.answer(&id, "approve").await.expect(200);
    }
    owner.get("/ready").await.expect(200);
    assert!(is_hub_on(pid_of(&hub), &data));
}
