//! The process dies while its command runs. The outcome of the command is unknown, so it is not run again before a
//! person clears the journal entry.

use super::action_log::{exec, kill_9};
use super::receive::ReceiverSetup;
use crate::harness::*;

/// The line of `countersign journal` for one message.
fn in_journal(terminal: &Terminal, id: &str) -> String {
    let plain = terminal.run(&["journal"]).ok();
    plain
        .lines()
        .find(|line| line.contains(id))
        .unwrap_or_default()
        .to_owned()
}

/// An answered ask whose command has started and blocks at its gate.
struct RunningCommand {
    id: String,
    gated: Vec<String>,
    process: Process,
    worker: String,
}

impl RunningCommand {
    async fn begin(setup: &ReceiverSetup) -> Self {
        let ReceiverSetup {
            hub,
            bot,
            terminal,
            action_log,
            ..
        } = setup;
        let id = bot.accepted(&ask(&bot.id)).await;
        hub.owner.answer(&id, "approve").await.expect(200);
        let gated = action_log.gated();
        let process = terminal.start(&exec(&["wait", &id], &gated));
        let worker = action_log.begun(1).await.remove(0);
        Self {
            id,
            gated,
            process,
            worker,
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_receiver_killed_during_the_command_does_not_run_it_again() {
    let setup = ReceiverSetup::open().await;
    let ReceiverSetup {
        hub,
        terminal,
        action_log,
        ..
    } = &setup;
    let id = setup.asked().await;
    let mut receiver = setup.receive(&action_log.gated()).await;
    hub.owner.answer(&id, "approve").await.expect(200);
    let worker = action_log.begun(1).await.remove(0);
    receiver.kill();
    kill_9(&worker);

    action_log.leave_gates_open();
    let receiver = setup.receive(&action_log.gated()).await;
    let delivery = hub.delivery(&id, "failed").await;
    assert!(
        delivery["last_error"].as_str().is_some_and(|text| text.contains("409")),
        "{delivery}"
    );
    assert!(
        receiver.stderr_with(&id).await.contains("journal forget"),
        "{}",
        receiver.output()
    );
    assert_eq!(action_log.done().len(), 0, "it was begun once and never again");
    let line = in_journal(terminal, &id);
    assert!(line.contains("interrupted"), "the journal shows it: {line:?}");

    terminal.run(&["journal", "forget", &id]).ok();
    hub.cli(&["delivery", "retry", &id]).ok();
    hub.delivery(&id, "delivered").await;
    assert_eq!(action_log.ids(), [id.as_str()]);
    assert!(
        in_journal(terminal, &id).contains("done"),
        "{}",
        in_journal(terminal, &id)
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_waiter_killed_during_the_command_does_not_run_it_again() {
    let setup = ReceiverSetup::open().await;
    let ReceiverSetup {
        terminal, action_log, ..
    } = &setup;
    let RunningCommand {
        id,
        gated,
        mut process,
        worker,
    } = RunningCommand::begin(&setup).await;
    let wait = exec(&["wait", &id], &gated);
    process.kill();
    kill_9(&worker);

    action_log.leave_gates_open();
    let output = terminal.run(&wait).fails(1);
    assert!(
        output.contains(&format!("journal forget {id}")),
        "it says what to do: {output}"
    );
    assert!(in_journal(terminal, &id).contains("interrupted"));
    assert_eq!(action_log.done().len(), 0);
    terminal.run(&["journal", "forget", &id]).ok();
    assert_eq!(terminal.run(&wait).code, 0);
    assert_eq!(action_log.ids(), [id]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_command_that_outlives_its_waiter_counts_as_running() {
    let setup = ReceiverSetup::open().await;
    let ReceiverSetup { terminal, .. } = &setup;
    let RunningCommand {
        id,
        gated,
        mut process,
        worker,
    } = RunningCommand::begin(&setup).await;
    let wait = exec(&["wait", &id], &gated);
    process.kill();
    let output = terminal.run(&wait).fails(1);
    assert!(output.contains("wait until it ends"), "{output}");
    terminal.run(&["journal", "forget", &id]).fails(1);
    kill_9(&worker);
    assert!(in_journal(terminal, &id).contains("interrupted"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_running_command_is_not_started_twice() {
    let setup = ReceiverSetup::open().await;
    let ReceiverSetup {
        terminal, action_log, ..
    } = &setup;
    let RunningCommand {
        id,
        gated,
        process: first,
        worker,
    } = RunningCommand::begin(&setup).await;
    let wait = exec(&["wait", &id], &gated);
    let output = terminal.run(&wait).fails(1);
    assert!(!output.contains("forget"), "nothing to forget while it runs: {output}");
    action_log.open_gate(&worker);
    assert_eq!(first.finish().code, 0);
    assert_eq!(action_log.ids(), [id]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_command_that_cannot_start_can_be_run_later() {
    let setup = ReceiverSetup::open().await;
    let ReceiverSetup {
        hub,
        bot,
        terminal,
        action_log,
        ..
    } = &setup;
    let id = bot.accepted(&ask(&bot.id)).await;
    hub.owner.answer(&id, "approve").await.expect(200);
    let output = terminal.run(&["wait", &id, "--exec", "/nonexistent/command"]).fails(1);
    assert!(output.contains("/nonexistent/command"), "{output}");
    assert_eq!(
        terminal.run(&exec(&["wait", &id], &action_log.command())).code,
        0,
        "so it can be done now"
    );
    assert_eq!(action_log.ids(), [id]);
}
