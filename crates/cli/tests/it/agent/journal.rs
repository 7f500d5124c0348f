//! `countersign journal`: the asks and actions of an agent.

use std::os::unix::fs::PermissionsExt;

use super::{message_id, stage};

#[tokio::test(flavor = "multi_thread")]
async fn the_journal_lists_asks() {
    let (hub, bot, terminal) = stage().await;
    assert_eq!(terminal.run(&["journal", "list"]).code, 0, "nothing yet is no error");
    let id = message_id(
        &terminal
            .run(&["ask", "Ship?", "--confirm", "--detach", "--key", "ship-17"])
            .ok(),
    );
    for args in [&["journal"][..], &["journal", "list"], &["journal", "--json"]] {
        let output = terminal.run(args).ok();
        assert!(output.contains(&id) && output.contains("ship-17"), "{args:?}: {output}");
    }
    let file = hub.scratch().path("journal.db");
    assert_eq!(
        std::fs::metadata(&file).expect("a journal").permissions().mode() & 0o777,
        0o600
    );
    let bytes = std::fs::read(&file).expect("the journal");
    assert!(
        !bytes.windows(bot.token.len()).any(|part| part == bot.token.as_bytes()),
        "no token in the journal"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn forgetting_an_unknown_message_is_an_error() {
    let (_hub, _bot, terminal) = stage().await;
    let output = terminal
        .run(&["journal", "forget", "msg_00000000000000000000000000"])
        .fails(1);
    assert!(output.contains("msg_00000000000000000000000000"), "{output}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_damaged_journal_is_an_error_and_nothing_is_sent() {
    let (hub, bot, terminal) = stage().await;
    let file = hub.scratch().write(
        "damaged.db",
        "this is no journal, whatever its name says, and it is long enough",
    );
    let terminal = terminal.env("COUNTERSIGN_JOURNAL", file.to_str().unwrap());
    let output = terminal.run(&["ask", "Ship?", "--confirm"]).fails(1);
    assert!(output.contains("journal"), "{output}");
    assert_eq!(super::messages(&bot).await, 0, "what cannot be kept is not sent");
}
