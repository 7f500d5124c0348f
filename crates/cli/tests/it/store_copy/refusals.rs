use rusqlite::Connection;

use super::copy;
use crate::harness::*;

#[tokio::test(flavor = "multi_thread")]
async fn a_running_hub_is_not_copied() {
    let mut hub = Hub::start().await;
    let database = Database::create().await;
    let output = copy(hub.scratch(), hub.data(), database.url_with_password(), &[]).fails(1);
    assert!(
        output.contains("a hub is running on") && output.contains("stop it first"),
        "{output}"
    );
    hub.owner.healthy().await;
    assert!(hub.interrupt().success());
    copy(hub.scratch(), hub.data(), database.url_with_password(), &[]).ok();
    let other = Hub::start().await;
    let output = copy(hub.scratch(), database.url_with_password(), other.data(), &[]).fails(1);
    assert!(output.contains("--to: a hub is running on"), "{output}");
}

#[tokio::test(flavor = "multi_thread")]
async fn no_hub_starts_on_half_a_copy() {
    let mut hub = Hub::start().await;
    assert!(hub.interrupt().success());
    let store = Connection::open(hub.data().join("hub.db")).expect("the database");
    let mark = "CREATE TABLE copying (source_name TEXT NOT NULL, content BLOB NOT NULL);
         INSERT INTO copying VALUES ('/srv/old/hub.db', zeroblob(32))";
    store.execute_batch(mark).expect("a mark");
    let mut command = countersign(&hub.scratch().home());
    command
        .args(["serve", "--listen", "127.0.0.1:0", "--data"])
        .arg(hub.data());
    let output = Process::spawn(command, "").finish().fails(1);
    assert!(output.contains("an unfinished copy of /srv/old/hub.db"), "{output}");
    assert!(output.contains("`countersign store copy`"), "{output}");
    let output = copy(hub.scratch(), hub.data(), hub.scratch().path("other"), &[]).fails(1);
    assert!(
        output.contains("is itself an unfinished copy, of /srv/old/hub.db"),
        "{output}"
    );
    store.execute_batch("DROP TABLE copying").expect("no mark");
    hub.restart().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_invalid_copy_is_refused_with_a_reason_and_changes_nothing() {
    let mut hub = Hub::start().await;
    assert!(hub.interrupt().success());
    let scratch = hub.scratch();
    let data = hub.data();
    let output = copy(scratch, scratch.path("nowhere"), scratch.path("other"), &[]).fails(1);
    assert!(
        output.contains("no store found") && output.contains("nowhere/hub.db does not exist"),
        "{output}"
    );
    assert!(!scratch.path("nowhere").exists() && !scratch.path("other").exists());

    let output = copy(scratch, &data, data.join("."), &[]).fails(1);
    assert!(output.contains("the same directory"), "{output}");

    let other = Hub::start().await;
    let (ran, kept) = {
        let mut other = other;
        other.interrupt();
        other.into_finished()
    };
    assert_eq!(ran.code, 0);
    let before = std::fs::read(kept.data().join("hub.db")).expect("its database");
    let output = copy(scratch, &data, kept.data(), &[]).fails(1);
    assert!(
        output.contains("is not empty") && output.contains("Nothing was changed"),
        "{output}"
    );
    assert_eq!(std::fs::read(kept.data().join("hub.db")).expect("its database"), before);

    for url in [
        "postgres://ann:s3cret@127.0.0.1:1/none?sslmode=disable",
        "postgresql://ann:s3cret@x/y?word=s3cret",
    ] {
        let output = copy(scratch, &data, url, &[]).fails(1);
        assert!(!output.contains("s3cret"), "{output}");
    }
    for mistyped in ["postgre://ann:s3cret@db/hub", "mysql://ann:s3cret@db/hub"] {
        for output in [
            copy(scratch, &data, mistyped, &[]).fails(1),
            copy(scratch, mistyped, &data, &[]).fails(1),
        ] {
            assert!(
                output.contains("not a PostgreSQL address") && !output.contains("s3cret"),
                "{output}"
            );
        }
    }
    assert_eq!(copy(scratch, &data, scratch.path("new"), &["--to", "twice"]).code, 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_copy_in_a_file_is_private() {
    use std::os::unix::fs::PermissionsExt;
    let mut hub = Hub::start().await;
    assert!(hub.interrupt().success());
    let other = hub.scratch().path("deep/other");
    copy(hub.scratch(), hub.data(), &other, &[]).ok();
    let mode = |path| std::fs::metadata(path).expect("it is there").permissions().mode() & 0o777;
    assert_eq!((mode(other.clone()), mode(other.join("hub.db"))), (0o700, 0o600));
}
