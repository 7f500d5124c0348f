//! `serve --log-file`.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use crate::harness::*;

const MAX_BYTES: usize = 4 * 1024 * 1024;

#[tokio::test(flavor = "multi_thread")]
async fn a_log_file_is_bounded_and_keeps_one_old_generation() {
    let scratch = Scratch::new();
    let path = scratch.write("hub.log", &"x".repeat(MAX_BYTES - 10));
    let old = scratch.write("hub.log.old", "from long ago");
    let mut hub = Setup::default()
        .env("RUST_LOG", "debug")
        .args(&["--log-file", path.to_str().expect("a text")])
        .start_in(scratch)
        .await;
    let bot = hub.agent("bot").await;
    let id = bot.accepted(&ask("bot")).await;
    assert!(hub.interrupt().success());
    let log = fs::read_to_string(&path).expect("the log");
    assert!(log.contains(&id) && log.len() < MAX_BYTES, "{log}");
    assert!(fs::read_to_string(old).expect("the old log").starts_with("xxx"));
    let mode = fs::metadata(&path).expect("the log").permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
}

#[test]
fn a_log_file_that_cannot_be_opened_is_refused() {
    let stderr = Setup::default()
        .args(&["--log-file", "/nowhere/hub.log"])
        .refused()
        .fails(1);
    assert!(stderr.contains("/nowhere/hub.log"), "{stderr}");
}
