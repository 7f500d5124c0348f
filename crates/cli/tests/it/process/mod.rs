//! A hub whose surroundings fail: its log cannot be written, its disk is full.

mod log_file;
mod out_of_room;
mod unwritable_log;

use crate::harness::*;

/// A metric without labels.
async fn metric(hub: &Hub, name: &str) -> u64 {
    let text = hub.anonymous().get("/metrics").await.text();
    let line = text.lines().find_map(|line| line.strip_prefix(&format!("{name} ")));
    line.and_then(|value| value.parse().ok())
        .unwrap_or_else(|| panic!("no {name} in {text}"))
}
