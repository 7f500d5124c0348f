//! Logging never blocks, and a log that cannot be written never ends a part of the hub.

use std::fs::{File, OpenOptions};
use std::io::{PipeReader, PipeWriter, Read, Write, pipe};
use std::os::fd::OwnedFd;

use futures_util::future::join_all;

use super::metric;
use crate::harness::*;

const DROPPED: &str = "countersign_log_lines_dropped";
/// The default size of a pipe's buffer.
const PIPE_BYTES: usize = 64 * 1024;

fn full_device() -> File {
    OpenOptions::new().write(true).open("/dev/full").expect("/dev/full")
}

/// The writing end as a standard error.
fn as_stderr(writer: PipeWriter) -> OwnedFd {
    writer.into()
}

fn pipe_without_reader() -> OwnedFd {
    let (reader, writer) = pipe().expect("a pipe");
    drop(reader);
    as_stderr(writer)
}

/// Asks, answers and lets a message expire, all of which is logged at `debug`.
async fn works(hub: &Hub) {
    let bot = hub.agent("bot").await;
    let answered = bot.accepted(&ask("bot")).await;
    let expired = bot.accepted_briefly(&ask("bot")).await;
    hub.owner.answer(&answered, "approve").await.expect(200);
    assert_eq!(bot.outcome(&answered).await["status"], "answered");
    assert_eq!(bot.outcome(&expired).await["status"], "expired");
    hub.anonymous().get("/ready").await.expect(200);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hub_works_although_every_write_to_its_log_fails() {
    for stderr in [full_device(), pipe_without_reader().into()] {
        let mut hub = Setup::default().env("RUST_LOG", "debug").stderr(stderr).start().await;
        works(&hub).await;
        eventually("dropped lines are counted", async || {
            (metric(&hub, DROPPED).await > 0).then_some(())
        })
        .await;
        assert!(hub.interrupt().success());
    }
}

/// A pipe whose buffer is full, so that the next write to it blocks.
fn full_pipe() -> (PipeReader, OwnedFd) {
    let (reader, mut writer) = pipe().expect("a pipe");
    writer.write_all(&[b'x'; PIPE_BYTES]).expect("room in the pipe");
    (reader, as_stderr(writer))
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hub_works_and_stops_although_its_log_is_never_read() {
    let (reader, writer) = full_pipe();
    let mut hub = Setup::default().env("RUST_LOG", "debug").stderr(writer).start().await;
    works(&hub).await;
    assert!(hub.interrupt().success());
    drop(reader);
}

#[tokio::test(flavor = "multi_thread")]
async fn dropped_log_lines_are_reported_once_the_log_is_read_again() {
    let (mut reader, writer) = full_pipe();
    let mut hub = Setup::default()
        .env("RUST_LOG", "debug")
        .config("[limits]\nrequests_per_minute = 0\n")
        .stderr(writer)
        .start()
        .await;
    let bot = hub.agent("bot").await;
    eventually("the queue is full", async || {
        let submits = (0..64).map(|_| async { bot.accepted(&notify("bot")).await });
        join_all(submits).await;
        (metric(&hub, DROPPED).await > 0).then_some(())
    })
    .await;
    let reading = std::thread::spawn(move || {
        let mut text = Vec::new();
        reader.read_to_end(&mut text).map(|_| text)
    });
    bot.accepted(&notify("bot")).await;
    assert!(hub.interrupt().success());
    // The harness holds a writing end too.
    drop(hub);
    let text = reading.join().expect("no panic").expect("the log");
    let text = String::from_utf8_lossy(&text);
    assert!(text.contains("log lines were dropped"), "{} bytes", text.len());
}

#[tokio::test(flavor = "multi_thread")]
async fn expiry_goes_on_after_a_database_outage_without_a_log() {
    let database = Database::create().await;
    let wire = Wire::to(&database).await;
    let hub = Setup::default()
        .database_url(&wire.url())
        .stderr(pipe_without_reader())
        .start()
        .await;
    let bot = hub.agent("bot").await;
    let id = bot.accepted(&expiring(ask("bot"), 5000)).await;
    wire.set_state(WireState::Cut);
    let ready = async |status| {
        eventually("readiness follows the database", async || {
            (hub.anonymous().get("/ready").await.status == status).then_some(())
        })
        .await;
    };
    ready(503).await;
    wire.set_state(WireState::Open);
    ready(200).await;
    assert_eq!(bot.outcome(&id).await["status"], "expired");
    let later = bot.accepted_briefly(&ask("bot")).await;
    assert_eq!(bot.outcome(&later).await["status"], "expired");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hub_serves_although_its_greeting_cannot_be_printed() {
    let mut hub = Setup::default().shell(r#"exec "$@" >/dev/full"#).start().await;
    works(&hub).await;
    assert!(hub.interrupt().success());
}
