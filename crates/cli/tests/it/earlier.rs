//! Stores made by the version before open with this one: open asks, tasks, cues and runs go on. The stores are in
//! tests/fixtures/earlier, made by tests/fixtures/make-earlier with the binaries of that version.

use std::io::Read;
use std::path::Path;

use flate2::read::GzDecoder;
use serde_json::{Value, json};

use crate::harness::*;

#[tokio::test(flavor = "multi_thread")]
async fn open_work_of_an_earlier_sqlite_store_goes_on() {
    let scratch = Scratch::new();
    std::fs::create_dir(scratch.data()).expect("a data directory");
    make_private(&scratch.data());
    std::fs::write(scratch.data().join("hub.db"), unpacked("hub.db.gz")).expect("the earlier database");
    let hub = Setup::default().start_in(scratch).await;
    goes_on(&hub, &ids("sqlite.json")).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn open_work_of_an_earlier_postgres_store_goes_on() {
    let database = Database::create().await;
    let dump = String::from_utf8(unpacked("postgres.sql.gz")).expect("SQL text");
    database.execute(&dump).await;
    let hub = Setup::default().database_url(&database.url()).start().await;
    goes_on(&hub, &ids("postgres.json")).await;
}

async fn goes_on(hub: &Hub, ids: &Value) {
    let id = |name: &str| ids[name].as_str().expect("an id").to_owned();
    let agent = hub.anonymous().bearer(&id("token"));

    let open = format!("/v1/messages/{}", id("open"));
    let before = agent.get(&open).await.expect(200);
    assert_eq!(
        (&before["status"], &before["state"]),
        (&json!("open"), &json!({"n": 1.5}))
    );
    hub.cli(&["answer", &id("open"), "yes"]).ok();
    let after = agent.get(&open).await.expect(200);
    assert_eq!(
        (&after["status"], &after["response"]["response"]["value"]),
        (&json!("answered"), &json!("approve"))
    );

    hub.cli(&["answer", &id("task"), "--complete", "--open-steps"]).ok();
    let task = agent.get(&format!("/v1/messages/{}", id("task"))).await.expect(200);
    assert_eq!(task["status"], "completed");

    assert_eq!(
        hub.owner.get("/v1/runs/earlier-run").await.expect(200)["status"],
        "running"
    );
    answer_titled(hub, "What shall I write about?", "tea").await;
    assert_eq!(hub.cli(&["runs", "follow", "earlier-run"]).ok(), "TOPIC: tea\n");

    answer_titled(hub, "Shall I go on?", "yes").await;
    let mut command = std::process::Command::new(cueme_binary());
    command
        .env_clear()
        .env("HOME", hub.scratch().home())
        .env("COUNTERSIGN_DATA", hub.data());
    command.args(["cue", &id("terminal_agent"), "-"]).current_dir("/tmp");
    let again = "<cueme_prompt>\nShall I go on?\n</cueme_prompt>\n";
    let collected = Process::spawn(command, again).finish().ok();
    assert!(collected.contains("yes"), "{collected}");
}

/// Answers the open item whose title or body has this text.
async fn answer_titled(hub: &Hub, text: &str, answer: &str) {
    let items = hub.owner.get("/v1/inbox").await.expect(200);
    let items = items["items"].as_array().expect("items");
    let item = items
        .iter()
        .find(|item| item["title"].as_str().is_some_and(|title| title.contains(text)))
        .unwrap_or_else(|| panic!("no item {text:?} in {items:#?}"));
    hub.cli(&["answer", item["id"].as_str().expect("an id"), answer]).ok();
}

fn fixture(name: &str) -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/fixtures/earlier")
        .join(name)
}

fn unpacked(name: &str) -> Vec<u8> {
    let packed = std::fs::read(fixture(name)).expect("the fixture");
    let mut bytes = Vec::new();
    GzDecoder::new(&packed[..]).read_to_end(&mut bytes).expect("gzip");
    bytes
}

fn ids(name: &str) -> Value {
    let text = std::fs::read_to_string(fixture(name)).expect("the ids");
    serde_json::from_str(&text).expect("JSON")
}

fn make_private(directory: &Path) {
    use std::os::unix::fs::PermissionsExt;
    std::fs::set_permissions(directory, std::fs::Permissions::from_mode(0o700)).expect("a private directory");
}
