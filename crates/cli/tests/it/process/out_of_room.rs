//! A disk without room, as a limit on the size of files that the test sets and lifts while the hub runs.

use std::fs::{File, OpenOptions};
use std::process::Command;

use crate::harness::*;

/// Without the signal, a write beyond the limit fails as it does on a full disk.
const WITHOUT_SIGNAL: &str = r#"trap "" XFSZ; exec "$@""#;
/// One page of the write-ahead log.
const LOG_PAGE_BYTES: u64 = 4096 + 24;

fn limit_files(hub: &Hub, bytes: &str) {
    let limited = Command::new("prlimit")
        .args([
            "--pid",
            &hub.process().id().to_string(),
            &format!("--fsize={bytes}:unlimited"),
        ])
        .status();
    assert!(limited.is_ok_and(|status| status.success()), "prlimit of util-linux");
}

/// The size of the write-ahead log.
fn log_bytes(hub: &Hub) -> u64 {
    let log = std::fs::metadata(hub.data().join("hub.db-wal"));
    log.expect("a write-ahead log").len()
}

/// A log file that is beyond every limit from the start.
fn log_on_the_same_disk(scratch: &Scratch) -> File {
    let path = scratch.write("log", "");
    let log = OpenOptions::new().append(true).open(path).expect("a log file");
    log.set_len(1 << 30).expect("a sparse file");
    log
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hub_without_room_for_store_and_log_recovers_once_there_is_room() {
    let scratch = Scratch::new();
    let log = log_on_the_same_disk(&scratch);
    let mut hub = Setup::default()
        .shell(WITHOUT_SIGNAL)
        .stderr(log)
        .start_in(scratch)
        .await;
    let bot = hub.agent("bot").await;
    let before = bot.accepted(&ask("bot")).await;
    limit_files(&hub, &log_bytes(&hub).to_string());
    eventually("writes are refused", async || {
        (bot.submit(&ask("bot")).await.status == 503).then_some(())
    })
    .await;
    hub.owner.answer(&before, "approve").await.refused("unavailable");
    limit_files(&hub, "unlimited");
    eventually("the hub is ready", async || {
        (hub.anonymous().get("/ready").await.status == 200).then_some(())
    })
    .await;
    hub.owner.answer(&before, "approve").await.expect(200);
    bot.accepted(&ask("bot")).await;
    assert!(hub.interrupt().success());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hub_is_not_ready_where_there_is_no_room_for_an_answer() {
    let hub = Setup::default().shell(WITHOUT_SIGNAL).start().await;
    let bot = hub.agent("bot").await;
    let id = bot.accepted(&ask("bot")).await;
    // A reader with a snapshot keeps the write-ahead log from starting over, which would make room.
    let reader = rusqlite::Connection::open(hub.data().join("hub.db")).expect("a second connection");
    reader
        .execute_batch("BEGIN; SELECT count(*) FROM message")
        .expect("a snapshot");
    let used = log_bytes(&hub);
    for pages in 1.. {
        limit_files(&hub, &(used + pages * LOG_PAGE_BYTES).to_string());
        let answered = hub.owner.answer(&id, "approve").await;
        if answered.status == 200 {
            assert!(pages > 2, "an answer takes more than one page");
            break;
        }
        answered.refused("unavailable");
        assert_eq!(hub.anonymous().get("/ready").await.status, 503, "{pages} pages");
    }
}
