//! A command that is at work exactly as long as the test wants it to be: it reads a pipe nobody else writes to.

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

    /// The argument with which `cat` waits here.
    pub fn path(&self) -> &str {
        self.path.to_str().expect("a path in UTF-8")
    }

    /// Returns when a process has begun to read.
    pub async fn until_reached(&mut self) {
        let path = self.path.clone();
        let opened = tokio::task::spawn_blocking(move || OpenOptions::new().write(true).open(path));
        let opened = within("the command reads its pipe", opened).await.expect("no panic");
        self.writer = Some(opened.expect("the pipe"));
    }

    /// The reader comes to the end of the pipe.
    pub fn release(&mut self) {
        self.writer = None;
    }
}
