//! A named pipe that keeps a command running until the test releases it.

use std::fs::{File, OpenOptions};
use std::path::PathBuf;
use std::process::Command;

use crate::harness::*;

pub struct Latch {
    path: PathBuf,
    writer: Option<File>,
}

impl Latch {
    pub fn new(hub: &Hub, name: &str) -> Self {
        let path = hub.scratch().path(name);
        let made = Command::new("mkfifo").arg(&path).status();
        assert!(made.is_ok_and(|status| status.success()), "a pipe for {name}");
        Self { path, writer: None }
    }

    /// The path for `cat` to block on.
    pub fn path(&self) -> &str {
        self.path.to_str().expect("a path in UTF-8")
    }

    /// Returns when a process has opened the pipe for reading.
    pub async fn until_reached(&mut self) {
        let path = self.path.clone();
        let opened = tokio::task::spawn_blocking(move || OpenOptions::new().write(true).open(path));
        let opened = within("the command reads its pipe", opened).await.expect("no panic");
        self.writer = Some(opened.expect("the pipe"));
    }

    /// Closes the pipe, so that the reader gets EOF.
    pub fn release(&mut self) {
        self.writer = None;
    }
}
