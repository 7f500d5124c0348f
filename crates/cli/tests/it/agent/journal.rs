//! What an agent asked and did, as its own journal tells it.

use std::os::unix::fs::PermissionsExt;

use super::{message_id, stage};

#[tokio::test(flavor = "multi_thread")]
async fn the_journal_lists_what_was_asked() {
    let (hub, bot, terminal) = stage().await;
    assert_eq!(terminal.run(&["journal", "list"]).code, 0, "nothing yet is no error");
    let id = message_id(
        &terminal
            .run(&["ask", "Ship?", "--confirm", "--detach", "--key", "ship-17"])
            .ok(),
    );
    for words in [&["journal"][..], &["journal", "list"], &["journal", "--json"]] {
        let said = terminal.run(words).ok();
        assert!(said.contains(&id) && said.contains("ship-17"), "{words:?}: {said}");
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
async fn there_is_nothing_to_forget_of_what_never_was() {
    let (_hub, _bot, terminal) = stage().await;
    let said = terminal
        .run(&["journal", "forget", "msg_00000000000000000000000000"])
        .fails(1);
    assert!(said.contains("msg_00000000000000000000000000"), "{said}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_damaged_journal_is_an_error_and_asks_nothing() {
    let (hub, bot, terminal) = stage().await;
    let file = hub.scratch().write(
        "damaged.db",
        "this is no journal, whatever its name says, and it is long enough",
    );
    let terminal = terminal.env("COUNTERSIGN_JOURNAL", file.to_str().unwrap());
    let said = terminal.run(&["ask", "Ship?", "--confirm"]).fails(1);
    assert!(said.contains("journal"), "{said}");
    assert_eq!(super::messages(&bot).await, 0, "what cannot be kept is not sent");
}
