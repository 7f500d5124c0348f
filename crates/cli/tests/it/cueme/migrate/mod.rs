//! `cueme migrate` imports a mailbox of the original cueme, from any of its programs, and leaves the mailbox unchanged.

mod mailbox;

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use super::AgentShell;
use crate::harness::*;
use mailbox::{Mailbox, at};

/// Runs `cueme migrate` in the home directory with the mailbox.
fn migrate(hub: &Hub, args: &[&str]) -> CommandOutput {
    AgentShell::with_hub(hub).run(&[&["migrate"], args].concat(), "")
}

/// All messages of the hub, oldest first, as inbox items.
async fn history(hub: &Hub) -> Vec<Value> {
    let listed = hub.owner.get("/v1/messages?limit=200").await.expect(200);
    let mut items = Vec::new();
    for message in listed["messages"].as_array().expect("a list").iter().rev() {
        let id = message["id"].as_str().expect("an id");
        items.push(hub.owner.get(&format!("/v1/inbox/{id}")).await.expect(200));
    }
    items
}

fn titles(items: &[Value]) -> Vec<&str> {
    items
        .iter()
        .map(|item| item["title"].as_str().expect("a title"))
        .collect()
}

/// The files of the mailbox directory with their contents, including SQLite side files.
fn bytes_of(directory: &Path) -> Vec<(String, Vec<u8>)> {
    let entries = fs::read_dir(directory)
        .expect("the directory")
        .map(|entry| entry.expect("an entry").path());
    let mut files: Vec<(String, Vec<u8>)> = entries
        .filter(|path| path.is_file())
        .map(|path| (path.display().to_string(), fs::read(&path).expect("a file")))
        .collect();
    files.sort();
    files
}

#[tokio::test(flavor = "multi_thread")]
async fn a_whole_mailbox_is_imported_and_left_unchanged() {
    let hub = Hub::start().await;
    let mailbox = Mailbox::of_the_original(&hub);
    let choice = r#"{"type":"choice","options":["Red","Blue"]}"#;
    let asked_at = at(-50);
    let answered_at = at(-49);
    mailbox.request(
        "req_1",
        "bamolodo",
        "Which colour?",
        Some(choice),
        ("COMPLETED", &asked_at),
    );
    mailbox.answer(1, "req_1", r#"{"text":"Blue"}"#, 0, &answered_at);
    mailbox.file(1, 0, "files/aa.txt", "text/plain", Some("hi"));
    mailbox.file(1, 1, "files/bb.png", "image/png", Some("\u{1}png"));
    mailbox.request("req_2", "bamolodo", "Carry on?", None, ("CANCELLED", &at(-40)));
    mailbox.answer(2, "req_2", r#"{"text":""}"#, 1, &at(-39));
    let pause = r#"{"type":"confirm","variant":"pause","text":"x","confirm_label":"Continue","cancel_label":""}"#;
    mailbox.request("req_3", "kivuron", "Paused here", Some(pause), ("COMPLETED", &at(-30)));
    mailbox.answer(3, "req_3", r#"{"text":"Continue"}"#, 0, &at(-29));
    mailbox.request("req_4", "kivuron", "Still there?", Some(choice), ("PENDING", &at(-20)));
    mailbox.agent("bamolodo", "Claude-Code", "/srv/shop", "zsh");
    mailbox.agent("lonely", "日本", "/srv/none", "unknown");
    let before = bytes_of(&mailbox.home);

    let output = migrate(&hub, &[]).ok();
    assert!(
        output.contains("agents: 3\nrequests: 4 (4 imported, 0 already there)\n"),
        "{output}"
    );
    assert!(
        output.contains("  open: 1, answered: 2, cancelled: 1\nfiles: 2\nskipped: 0\n"),
        "{output}"
    );
    assert_eq!(bytes_of(&mailbox.home), before, "the mailbox is unchanged");

    let items = history(&hub).await;
    assert_eq!(
        titles(&items),
        ["Which colour?", "Carry on?", "Paused here", "Still there?"]
    );
    let statuses: Vec<&Value> = items.iter().map(|item| &item["status"]).collect();
    assert_eq!(statuses, ["answered", "cancelled", "answered", "open"]);
    let answer = &items[0]["resolution"];
    assert_eq!(
        (&answer["value"], &answer["actor"]),
        (&json!("Blue"), &json!("system:imported"))
    );
    assert_eq!(items[0]["created_at"], json!(asked_at));
    assert_eq!(answer["resolved_at"], json!(answered_at));
    let id = items[0]["id"].as_str().expect("an id");
    assert_eq!(hub.owner.get(&format!("/v1/inbox/{id}/files/0")).await.text(), "hi");
    assert_eq!(answer["files"][1]["name"], "bb.png");
    let terminals = hub.owner.get("/v1/terminals").await.expect(200).to_string();
    assert!(
        terminals.contains("claude_code") && terminals.contains("/srv/shop"),
        "{terminals}"
    );
    assert!(terminals.contains("lonely"), "{terminals}");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_open_request_continues_in_the_hub() {
    let hub = Hub::start().await;
    let mailbox = Mailbox::of_the_original(&hub);
    mailbox.request("req_1", "kivuron", "Still there?", None, ("PENDING", &at(-20)));
    migrate(&hub, &[]).ok();
    let before = history(&hub).await;
    assert_eq!(before[0]["presence"]["state"], "gone", "its process is not connected");
    let id = before[0]["id"].as_str().expect("an id").to_owned();
    let asking = AgentShell::with_hub(&hub).cue("kivuron", "Still there?");
    asking.stderr_with(&format!("waiting again for {id}")).await;
    hub.owner.answer(&id, "yes, here").await.expect(200);
    assert!(asking.finish().ok().contains("yes, here"));
}

#[tokio::test(flavor = "multi_thread")]
async fn an_unread_answer_is_collected_through_the_hub() {
    let hub = Hub::start().await;
    let mailbox = Mailbox::of_the_original(&hub);
    mailbox.request("req_1", "kivuron", "Still there?", None, ("PENDING", &at(-20)));
    mailbox.answer(1, "req_1", r#"{"text":"yes, here"}"#, 0, &at(-10));
    mailbox.request("req_2", "kivuron", "Read long ago?", None, ("COMPLETED", &at(-30)));
    mailbox.answer(2, "req_2", r#"{"text":"yes"}"#, 0, &at(-29));
    migrate(&hub, &[]).ok();
    let shell = AgentShell::with_hub(&hub);
    assert_eq!(
        shell.cue("kivuron", "Still there?").finish().ok(),
        super::answered("yes, here")
    );
    assert!(
        shell
            .run(&["resume", "kivuron"], "")
            .fails(1)
            .contains("no answer to collect")
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_second_migration_imports_only_new_requests() {
    let hub = Hub::start().await;
    let mailbox = Mailbox::of_the_original(&hub);
    for number in 1..=3 {
        mailbox.request(
            &format!("req_{number}"),
            "kivuron",
            &format!("Number {number}?"),
            None,
            ("PENDING", &at(-20)),
        );
    }
    mailbox.answer(1, "req_1", r#"{"text":"one"}"#, 0, &at(-10));
    migrate(&hub, &[]).ok();
    mailbox.request("req_4", "kivuron", "Number 4?", None, ("PENDING", &at(-5)));
    let again = migrate(&hub, &["--json"]).json();
    assert_eq!(
        (&again["imported"], &again["already_there"]),
        (&json!(1), &json!(3)),
        "{again}"
    );
    assert_eq!(
        titles(&history(&hub).await),
        ["Number 1?", "Number 2?", "Number 3?", "Number 4?"]
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn mailboxes_of_every_program_are_read() {
    for make in [
        Mailbox::of_the_original,
        Mailbox::of_the_console,
        Mailbox::of_the_server,
        Mailbox::bare,
    ] {
        let hub = Hub::start().await;
        let mailbox = make(&hub);
        mailbox.request(
            "req_2",
            "kivuron",
            "Second",
            None,
            ("PENDING", "2026-03-01T09:30:00.000+02:00"),
        );
        mailbox.request(
            "req_1",
            "kivuron",
            "First",
            None,
            ("COMPLETED", "2026-03-01 07:00:00.000000"),
        );
        mailbox.answer(
            1,
            "req_1",
            r#"{"text":"go","images":[]}"#,
            0,
            "2026-03-01 07:10:00.500000",
        );
        let report = migrate(&hub, &["--json"]).json();
        assert_eq!(
            (&report["open"], &report["answered"]),
            (&json!(1), &json!(1)),
            "{report}"
        );
        let items = history(&hub).await;
        if mailbox.has_times {
            assert_eq!(titles(&items), ["First", "Second"], "sorted by time, not as text");
            assert_eq!(items[0]["created_at"], "2026-03-01T07:00:00.000Z");
            assert_eq!(items[0]["resolution"]["resolved_at"], "2026-03-01T07:10:00.500Z");
            assert_eq!(items[1]["created_at"], "2026-03-01T07:30:00.000Z");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_missing_file_is_named_and_the_rest_is_imported() {
    let hub = Hub::start().await;
    let mailbox = Mailbox::of_the_original(&hub);
    mailbox.request("req_1", "kivuron", "Look", None, ("COMPLETED", &at(-50)));
    let image = r#"{"text":"here","images":[{"mime_type":"image/png","base64_data":"aGk="}]}"#;
    mailbox.answer(1, "req_1", image, 0, &at(-49));
    mailbox.file(1, 0, "files/gone.png", "image/png", None);
    mailbox.file(1, 1, "../../secret.txt", "text/plain", None);
    mailbox.file(1, 2, "files/kept.txt", "text/plain", Some("kept"));
    mailbox.request("req_2", "kivuron", "   ", None, ("PENDING", &at(-30)));
    mailbox.request("req_3", "two words", "Whose?", None, ("PENDING", &at(-30)));
    mailbox.request("req_4", "kivuron", "Broken", Some("[1"), ("PENDING", &at(-20)));
    mailbox.answer(9, "req_9", r#"{"text":"orphan"}"#, 0, &at(-9));
    let ran = migrate(&hub, &[]);
    assert_eq!(ran.code, 1, "{ran:?}");
    for line in [
        "requests: 2 (2 imported, 0 already there)",
        "files: 2",
        "answers whose request was deleted, left behind: 1",
        "- req_1: files/gone.png is missing",
        "- req_1: ../../secret.txt is no path in the mailbox's own directory `files`",
        "- req_2: prompt: ",
        "- req_3: agent_id: ",
        "- req_4: its payload is no JSON object and was left out",
    ] {
        assert!(ran.stdout.contains(line), "{line} in {}", ran.stdout);
    }
    let items = history(&hub).await;
    assert_eq!(titles(&items), ["Look", "Broken"]);
    let files = &items[0]["resolution"]["files"];
    assert_eq!(
        (&files[0]["name"], &files[1]["name"]),
        (&json!("kept.txt"), &json!("image-1.png")),
        "{files}"
    );
}

#[test]
fn a_bad_mailbox_is_refused_before_a_hub_is_started() {
    let scratch = Scratch::new();
    let run = |args: &[&str]| AgentShell::at(&scratch).run(&[&["migrate"], args].concat(), "");
    assert!(run(&[]).fails(1).contains(".cue/cue.db"));
    run(&["a", "b"]).fails(2);
    let text = scratch.write(
        "notes.db",
        "these are notes, and no database at all, not even a small one",
    );
    assert!(run(&[&text.display().to_string()]).fails(1).contains("not a database"));
    let newer = Mailbox::in_directory(&scratch.path("newer"), "");
    newer.set_version("4");
    let stderr = run(&[&newer.home.display().to_string()]).fails(1);
    assert!(
        stderr.contains("schema_version 4") && stderr.contains("nothing was imported"),
        "{stderr}"
    );
    assert!(!scratch.data().exists(), "no hub was started");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_mailbox_in_wal_mode_gets_no_side_files() {
    let hub = Hub::start().await;
    let mailbox = Mailbox::of_the_console(&hub);
    mailbox.request("req_1", "kivuron", "One?", None, ("PENDING", &at(-20)));
    mailbox.set_wal_mode();
    let before = bytes_of(&mailbox.home);
    assert_eq!(before.len(), 1);
    let open = mailbox.writing("INSERT INTO schema_meta (key, value) VALUES ('x', 'y')");
    migrate(&hub, &[]).ok();
    drop(open);
    migrate(&hub, &[&mailbox.home.display().to_string()]).ok();
    assert_eq!(bytes_of(&mailbox.home).len(), 1);
    assert_eq!(titles(&history(&hub).await), ["One?"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_long_history_is_imported_in_seconds() {
    let hub = Setup::default()
        .config("[limits]\nrequests_per_minute = 0\n")
        .start()
        .await;
    let mailbox = Mailbox::of_the_original(&hub);
    mailbox.fill(1_000);
    let report = migrate(&hub, &["--json"]).json();
    assert_eq!(
        (&report["imported"], &report["answered"]),
        (&json!(1_000), &json!(990)),
        "{report}"
    );
    assert_eq!(
        hub.owner.get("/v1/inbox?limit=200").await.expect(200)["items"]
            .as_array()
            .map(Vec::len),
        Some(10)
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn migrate_waits_when_the_hub_rate_limits() {
    let hub = Setup::default()
        .config("[limits]\nrequests_per_minute = 600\n")
        .start()
        .await;
    let mailbox = Mailbox::of_the_original(&hub);
    mailbox.fill(620);
    assert_eq!(migrate(&hub, &["--json"]).json()["imported"], 620);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_planted_mailbox_cannot_import_files_from_outside() {
    let hub = Hub::start().await;
    let home = hub.scratch().home();
    std::fs::create_dir_all(home.join(".ssh")).expect("a directory");
    std::fs::write(home.join(".ssh/id_rsa"), "PRIVATE KEY").expect("a key");
    let mailbox = Mailbox::planted(&home);
    std::os::unix::fs::symlink("../.ssh/id_rsa", home.join("files/notes.txt")).expect("a link");
    mailbox.request("req_1", "kivuron", "Look", None, ("COMPLETED", &at(-50)));
    mailbox.answer(1, "req_1", r#"{"text":"here"}"#, 0, &at(-49));
    for (index, file) in [".ssh/id_rsa", "/.ssh/id_rsa", "files/../.ssh/id_rsa", "files/notes.txt"]
        .iter()
        .enumerate()
    {
        mailbox.file(1, index as i64, file, "text/plain", None);
    }
    let ran = migrate(&hub, &[&home.join("cue.db").display().to_string()]);
    assert!(
        ran.code == 1 && ran.stdout.contains("files: 0") && ran.stdout.contains("skipped: 4"),
        "{ran:?}"
    );
    assert_eq!(history(&hub).await[0]["resolution"]["files"], json!([]));
}

#[tokio::test(flavor = "multi_thread")]
async fn settings_of_the_original_are_offered_to_be_moved() {
    let hub = Hub::start().await;
    let home = hub.scratch().home();
    Mailbox::of_the_original(&hub);
    assert!(!migrate(&hub, &[]).stderr.contains("--settings"), "there are none");
    let settings = r#"{"cueme.proto.protocol_path": "/usr/lib/node_modules/cueme/protocol.md"}"#;
    fs::write(home.join(".cue/cueme.json"), settings).expect("settings");
    let ran = migrate(&hub, &[]);
    assert!(ran.stderr.contains("cueme migrate --settings"), "{ran:?}");
    let kept = fs::read_to_string(home.join(".cue/cueme.json")).expect("settings");
    assert_eq!(kept, settings, "an offer changes nothing");
}

#[test]
fn an_endless_or_oversized_mailbox_is_refused() {
    const ENDLESS: &str = "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) \
        SELECT 'req_' || i AS request_id, 'kivuron' AS agent_id, 'x' AS prompt FROM n";
    let scratch = Scratch::new();
    let run = |name: &str, tables: &str| {
        let mailbox = Mailbox::in_directory(&scratch.path(name), tables);
        AgentShell::at(&scratch)
            .run(&["migrate", &mailbox.home.display().to_string(), "--no-start"], "")
            .fails(1)
    };
    let text = run("view", &format!("CREATE VIEW cue_requests AS {ENDLESS};"));
    assert!(text.contains("is no mailbox of cueme"), "{text}");
    let large = "CREATE TABLE cue_requests (request_id TEXT, agent_id TEXT, prompt TEXT, created_at TEXT);
        INSERT INTO cue_requests VALUES ('req_1', 'kivuron', 'x', zeroblob(70000000));";
    let text = run("large", large);
    assert!(text.contains("cannot be read") && text.contains("too big"), "{text}");
    assert!(!scratch.data().exists(), "no hub was started");
}
