//! A store that has lost its newest entries is not served as if nothing had happened.

use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::harness::*;

const REFUSED: i32 = 65;

fn mark(data: &Path) -> Option<Value> {
    serde_json::from_slice(&fs::read(data.join("hub.mark")).ok()?).ok()
}

/// Waits until the mark has the message with this number.
async fn until_marked(data: &Path, message_seq: i64) {
    eventually("the mark is raised", async || {
        (mark(data)?["message_seq"].as_i64()? >= message_seq).then_some(())
    })
    .await;
}

/// Removes the log and the index beside `hub.db`.
fn remove_log(data: &Path) {
    for name in ["hub.db-wal", "hub.db-shm"] {
        let _ = fs::remove_file(data.join(name));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_older_copy_is_refused_until_the_loss_is_accepted() {
    let mut hub = Hub::start().await;
    let bot = hub.agent("bot").await;
    let kept = bot.accepted(&ask("bot")).await;
    assert!(hub.interrupt().success());
    let older = fs::read(hub.data().join("hub.db")).expect("a copy");
    hub.restart().await;
    let lost = bot.accepted(&ask("bot")).await;
    assert!(hub.interrupt().success());
    let newer = fs::read(hub.data().join("hub.db")).expect("the store");
    fs::write(hub.data().join("hub.db"), older).expect("put back");
    remove_log(&hub.data());

    let stderr = Setup::default().refused_in(hub.scratch()).fails(REFUSED);
    for text in ["audit entries are missing", "older copy", "--accept-data-loss"] {
        assert!(stderr.contains(text), "{stderr}");
    }
    let doctor = hub.cli(&["doctor"]);
    assert_eq!(doctor.code, 1);
    assert!(doctor.stdout.contains("has lost data"), "{doctor:?}");

    let older = fs::read(hub.data().join("hub.db")).expect("the copy");
    fs::write(hub.data().join("hub.db"), newer).expect("put back");
    remove_log(&hub.data());
    hub.restart().await;
    assert_eq!(bot.pull(&lost).await["status"], "open", "the newer files are accepted");
    assert!(hub.interrupt().success());

    fs::write(hub.data().join("hub.db"), older).expect("put back");
    remove_log(&hub.data());
    let mut accepting = Setup::default().args(&["--accept-data-loss"]).start_again(hub).await;
    assert_eq!(bot.at(&accepting).pull(&kept).await["status"], "open");
    assert_eq!(
        bot.at(&accepting).get(&format!("/v1/messages/{lost}")).await.status,
        404
    );
    let trail = accepting.owner.get("/v1/admin/audit?id=hub").await.expect(200);
    assert!(trail.to_string().contains("hub.data_loss_accepted"), "{trail}");
    assert!(accepting.interrupt().success());
    let mut hub = Setup::default().start_again(accepting).await;
    assert!(hub.cli(&["doctor"]).stdout.contains("has every entry"));
    assert!(hub.interrupt().success());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_missing_write_ahead_log_is_noticed() {
    let mut hub = Hub::start().await;
    let bot = hub.agent("bot").await;
    // A reader with an old snapshot keeps the checkpoint from copying what comes later.
    let reader = rusqlite::Connection::open(hub.data().join("hub.db")).expect("a second connection");
    reader
        .execute_batch("BEGIN; SELECT count(*) FROM message")
        .expect("a snapshot");
    bot.accepted(&ask("bot")).await;
    until_marked(&hub.data(), 1).await;
    hub.kill();
    let alone = fs::read(hub.data().join("hub.db")).expect("the database file");
    drop(reader);
    fs::write(hub.data().join("hub.db"), alone).expect("put back");
    remove_log(&hub.data());
    let stderr = Setup::default().refused_in(hub.scratch()).fails(REFUSED);
    assert!(stderr.contains("hub.db-wal"), "{stderr}");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_idle_hub_moves_its_write_ahead_log_into_the_database() {
    let mut hub = Hub::start().await;
    let bot = hub.agent("bot").await;
    let id = bot.accepted(&ask("bot")).await;
    let alone = hub.scratch().path("alone.db");
    eventually("the database file alone has the message", async || {
        fs::copy(hub.data().join("hub.db"), &alone).expect("a copy");
        let copy = rusqlite::Connection::open(&alone).expect("the copy opens");
        let found: rusqlite::Result<i64> =
            copy.query_row("SELECT count(*) FROM message WHERE id = ?1", [&id], |row| row.get(0));
        (found == Ok(1)).then_some(())
    })
    .await;
    hub.kill();
    remove_log(&hub.data());
    hub.restart().await;
    assert_eq!(bot.pull(&id).await["status"], "open");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_killed_hub_is_never_behind_its_mark() {
    let mut hub = Hub::start().await;
    let bot = hub.agent("bot").await;
    for round in 1..=2 {
        bot.accepted(&ask("bot")).await;
        until_marked(&hub.data(), round).await;
        hub.kill();
        hub.restart().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_empty_store_beside_a_mark_is_refused() {
    let mut hub = Hub::start().await;
    assert!(hub.interrupt().success());
    fs::remove_file(hub.data().join("hub.db")).expect("the store is gone");
    let stderr = Setup::default().refused_in(hub.scratch()).fails(REFUSED);
    assert!(stderr.contains("the store is empty"), "{stderr}");
    fs::write(hub.data().join("hub.mark"), "{").expect("a broken mark");
    let stderr = Setup::default().refused_in(hub.scratch()).fails(REFUSED);
    assert!(stderr.contains("hub.mark"), "{stderr}");
}

#[tokio::test(flavor = "multi_thread")]
async fn doctor_finds_a_damaged_database() {
    let mut hub = Hub::start().await;
    assert!(hub.cli(&["doctor"]).stdout.contains("hub.db is sound"));
    let bot = hub.agent("bot").await;
    for _ in 0..20 {
        bot.accepted(&ask("bot")).await;
    }
    assert!(hub.interrupt().success());
    let path = hub.data().join("hub.db");
    let page = root_page_of_messages(&path);
    let mut content = fs::read(&path).expect("the store");
    content[(page - 1) * 4096..page * 4096].fill(0xAA);
    fs::write(&path, content).expect("damaged");
    let doctor = hub.cli(&["doctor"]);
    assert_eq!(doctor.code, 1);
    assert!(doctor.stdout.contains("hub.db is damaged"), "{doctor:?}");
}

fn root_page_of_messages(path: &Path) -> usize {
    const SELECT: &str = "SELECT rootpage FROM sqlite_schema WHERE name = 'message'";
    let database = rusqlite::Connection::open(path).expect("the store");
    let page: u32 = database.query_row(SELECT, [], |row| row.get(0)).expect("a root page");
    page as usize
}

#[test]
fn accepting_a_loss_needs_a_database_file() {
    let url = "postgres://countersign@127.0.0.1:1/hub";
    let stderr = Setup::default()
        .args(&["--accept-data-loss", "--database-url", url])
        .refused()
        .fails(1);
    assert!(stderr.contains("--accept-data-loss"), "{stderr}");
}

/// Such as the backup command of the sqlite3 shell. SQLite deletes the log when the last connection of all programs is
/// closed, so the hub's own locks must be seen by other programs.
#[tokio::test(flavor = "multi_thread")]
async fn another_program_that_opens_and_closes_the_database_leaves_its_log() {
    let mut hub = Hub::start().await;
    let bot = hub.agent("bot").await;
    bot.accepted(&ask("bot")).await;
    let other = rusqlite::Connection::open(hub.data().join("hub.db")).expect("a second connection");
    other
        .query_row("SELECT count(*) FROM message", [], |row| row.get::<_, i64>(0))
        .expect("a count");
    drop(other);
    assert!(hub.data().join("hub.db-wal").exists());
    let later = bot.accepted(&ask("bot")).await;
    hub.kill();
    hub.restart().await;
    assert_eq!(bot.pull(&later).await["status"], "open");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_damaged_last_entry_is_refused_until_the_loss_is_accepted() {
    let mut hub = Hub::start().await;
    let bot = hub.agent("bot").await;
    bot.accepted(&ask("bot")).await;
    assert!(hub.interrupt().success());
    let store = rusqlite::Connection::open(hub.data().join("hub.db")).expect("the store");
    let damage = "DROP TRIGGER audit_never_changes;
        UPDATE audit SET hash = x'00ff' WHERE seq = (SELECT max(seq) FROM audit)";
    store.execute_batch(damage).expect("damaged");
    drop(store);
    let stderr = Setup::default().refused_in(hub.scratch()).fails(REFUSED);
    assert!(stderr.contains("is not the one of"), "{stderr}");
    let accepting = Setup::default().args(&["--accept-data-loss"]).start_again(hub).await;
    accepting.owner.get("/ready").await.expect(200);
}
