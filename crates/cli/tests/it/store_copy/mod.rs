//! `countersign store copy`, from a data directory to a real PostgreSQL and back.

mod both_ways;
mod refusals;

use std::path::Path;

use crate::harness::{CommandOutput, Process, Scratch, countersign};

/// Runs the copy between data directories and database URLs.
fn copy(scratch: &Scratch, from: impl AsRef<Path>, to: impl AsRef<Path>, more: &[&str]) -> CommandOutput {
    let mut command = countersign(&scratch.home());
    command
        .args(["store", "copy", "--from"])
        .arg(from.as_ref())
        .arg("--to")
        .arg(to.as_ref())
        .args(more);
    Process::spawn(command, "").finish()
}
