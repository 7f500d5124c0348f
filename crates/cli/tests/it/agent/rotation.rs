//! Key rotation while answers are in flight loses no answer, if the receiver gets the new key before the agent calls with
//! its new token.

use super::action_log::{ActionLog, exec};
use super::message_id;
use super::receive::{ReceiverSetup, address};
use crate::harness::*;

fn rotated(hub: &Hub, overlap_seconds: &str) -> (String, String) {
    let args = [
        "agent",
        "rotate",
        "acme/deployer",
        "--overlap-seconds",
        overlap_seconds,
        "--json",
    ];
    let made = hub.cli(&args).json();
    let text = |name: &str| made[name].as_str().expect("a text").to_owned();
    (text("token"), text("signing_key"))
}

#[tokio::test(flavor = "multi_thread")]
async fn no_answer_is_lost_during_key_rotation() {
    let setup = ReceiverSetup::open().await;
    let ReceiverSetup {
        hub,
        bot,
        terminal,
        action_log,
        ..
    } = &setup;
    let command = action_log.command();
    let url = setup.url();
    let ask = ["ask", "Ship?", "--confirm", "--detach", "--callback", &url];
    let settled = async |id: &str| {
        hub.owner.answer(id, "approve").await.expect(200);
        hub.delivery(id, "delivered").await;
    };
    let with_keys = |keys: &str| terminal.clone().env("COUNTERSIGN_SIGNING_KEY", keys);

    // Asked before the rotation, answered after it, to a receiver that has only the old key.
    let first = message_id(&terminal.run(&ask).ok());
    let receiver = setup.receive(&command).await;
    let (token, new_key) = rotated(hub, "3600");
    settled(&first).await;

    // The old token still works. The receiver gets both keys.
    let second = message_id(&terminal.run(&ask).ok());
    drop(receiver);
    let both = format!("{} {new_key}", bot.signing_key);
    let receiver = setup.receive_at(&with_keys(&both), &url, &command).await;
    settled(&second).await;

    // The agent uses its new token, and the receiver only the new key.
    let terminal = terminal.clone().env("COUNTERSIGN_TOKEN", &token);
    let third = message_id(&terminal.run(&ask).ok());
    drop(receiver);
    let receiver = setup.receive_at(&with_keys(&new_key), &url, &command).await;
    settled(&third).await;

    // The next rotation has no overlap: a receiver that was given both keys before loses nothing.
    let fourth = message_id(&terminal.run(&ask).ok());
    drop(receiver);
    let (token, newest_key) = rotated(hub, "0");
    let both = format!("{new_key}\n{newest_key}");
    let _receiver = setup.receive_at(&with_keys(&both), &url, &command).await;
    settled(&fourth).await;
    let terminal = terminal.env("COUNTERSIGN_TOKEN", &token);
    assert_eq!(terminal.run(&["wait", &fourth]).ok(), "approve\n");
    assert_eq!(action_log.ids(), [first, second, third, fourth]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_key_that_is_no_longer_valid_is_refused() {
    let setup = ReceiverSetup::open().await;
    let id = setup.asked().await;
    rotated(&setup.hub, "0");
    let receiver = setup.receive(&setup.action_log.command()).await;
    setup.hub.owner.answer(&id, "approve").await.expect(200);
    setup.hub.delivery(&id, "failed").await;
    receiver.stderr_with("signature").await;
    assert_eq!(setup.action_log.done().len(), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_local_receiver_keeps_working_after_a_rotation() {
    let hub = Setup::pushing().start().await;
    let terminal = Terminal::local(&hub);
    let front = Proxy::start().await;
    let action_log = ActionLog::new(&hub);
    terminal.run(&["notify", "Hello"]).ok();
    hub.cli(&["agent", "callback", "approve", "cli", &front.host()]).ok();
    let url = front.url("/resume");
    let command = action_log.command();
    let receive = ["receive", "--listen", "127.0.0.1:0", "--url", &url, "--path", "/resume"];
    // With another journal the receiver has to ask the hub, with a token that the rotation replaces.
    let elsewhere = hub.scratch().path("elsewhere.db").display().to_string();
    let receiver = terminal
        .clone()
        .env("COUNTERSIGN_JOURNAL", &elsewhere)
        .start(&exec(&receive, &command));
    front.forward_to(&address(&receiver).await);
    hub.cli(&["agent", "rotate", "cli", "--overlap-seconds", "0"]).ok();
    let id = message_id(
        &terminal
            .run(&["ask", "Ship?", "--confirm", "--detach", "--callback", &url])
            .ok(),
    );
    hub.cli(&["answer", &id, "yes"]).ok();
    hub.delivery(&id, "delivered").await;
    assert_eq!(action_log.ids(), [id]);
}
