use std::sync::Arc;

use countersign_store::clock::SystemClock;
use countersign_store::{Store, StoreError};
use serde_json::json;

use super::copy;
use crate::harness::*;

async fn stopped_hub() -> (Hub, Agent, [String; 2]) {
    let (mut hub, bot, ids) = hub_with_two_asks().await;
    assert!(hub.interrupt().success());
    (hub, bot, ids)
}

/// A hub with one open and one answered ask.
async fn hub_with_two_asks() -> (Hub, Agent, [String; 2]) {
    let hub = Hub::start().await;
    let bot = hub.agent("bot").await;
    let open = bot.accepted(&ask("bot")).await;
    let answered = bot.accepted(&ask("bot")).await;
    hub.cli(&["answer", &answered, "approve"]).ok();
    (hub, bot, [open, answered])
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hub_moves_to_postgresql_and_back() {
    let (mut hub, bot, [open, answered]) = stopped_hub().await;
    let database = Database::create().await;
    let back = hub.scratch().path("back");
    let there = copy(hub.scratch(), hub.data(), database.url_with_password(), &[]).ok();
    let lines: Vec<&str> = there.lines().filter(|line| line.ends_with("  same")).collect();
    assert!(
        lines.len() > 20 && lines.iter().any(|line| line.starts_with("message ")),
        "{there}"
    );
    assert!(there.contains("the same on both sides"), "{there}");
    copy(hub.scratch(), database.url_with_password(), &back, &[]).ok();

    std::fs::remove_dir_all(hub.data()).expect("the old store goes");
    std::fs::rename(&back, hub.data()).expect("and the copy takes its place");
    hub.restart().await;
    let inbox = hub.cli(&["inbox", "--json"]).json();
    assert_eq!(inbox.as_array().map(Vec::len), Some(1), "{inbox}");
    assert_eq!(inbox[0]["id"], open);
    assert_eq!(bot.outcome(&answered).await["response"]["response"]["value"], "approve");
    hub.cli(&["answer", &open, "deny"]).ok();
    assert_eq!(bot.outcome(&open).await["response"]["response"]["value"], "deny");
    bot.accepted(&ask("bot")).await;
    let found = hub.owner.get("/v1/search?q=deploy").await.expect(200);
    assert_eq!(
        found["items"].as_array().map(Vec::len),
        Some(3),
        "the search is filled anew: {found}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn json_output_has_counts_and_hashes() {
    let (mut hub, _bot, _ids) = hub_with_two_asks().await;
    // After a kill most of the data is still in the write-ahead log.
    hub.kill();
    let database = Database::create().await;
    let report = copy(
        hub.scratch(),
        hub.data().join("hub.db"),
        database.url_with_password(),
        &["--json"],
    );
    assert!(
        report.stderr.contains("Copying."),
        "it says how far it is: {}",
        report.stderr
    );
    assert!(!format!("{report:?}").contains("s3cret"), "no password: {report:?}");
    let report = report.json();
    assert_eq!([&report["same"], &report["resumed"]], [&json!(true), &json!(false)]);
    let tables = report["tables"].as_array().expect("a list");
    let messages = tables
        .iter()
        .find(|table| table["table"] == "message")
        .expect("messages");
    assert_eq!([&messages["rows"], &messages["copy_rows"]], [&json!(2), &json!(2)]);
    assert_eq!(messages["sha256"].as_str().map(str::len), Some(64));
    assert_eq!(messages["sha256"], messages["copy_sha256"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_copy_that_differs_fails_and_no_hub_starts_on_it() {
    let (hub, _bot, _ids) = stopped_hub().await;
    let database = Database::create().await;
    let open = || async { Store::open_postgres(&database.url_with_password(), Arc::new(SystemClock)).await };
    drop(open().await.expect("an empty store"));
    let spoil = "CREATE FUNCTION spoil() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
             NEW.source = NEW.source || ' '; RETURN NEW; END $$;
         CREATE TRIGGER spoil BEFORE INSERT ON message FOR EACH ROW EXECUTE FUNCTION spoil()";
    database.execute(spoil).await;
    let ran = copy(hub.scratch(), hub.data(), database.url_with_password(), &[]);
    assert_eq!(ran.code, 1, "{ran:?}");
    let different: Vec<&str> = ran
        .stdout
        .lines()
        .filter(|line| line.contains("DIFFERENT: 2 rows"))
        .collect();
    assert!(
        different.len() == 1 && different[0].starts_with("message "),
        "{}",
        ran.stdout
    );
    assert!(ran.stdout.contains("no hub will start on it"), "{}", ran.stdout);
    assert!(matches!(open().await, Err(StoreError::UnfinishedCopy { .. })));
}
