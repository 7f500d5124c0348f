//! `store copy`: copies everything a hub knows from one database to another.

pub mod copy_end;
mod outcome;
mod progress;

use anyhow::Result;
use countersign_store::copy::{BatchSize, copy};

use super::Finished;
use crate::args::{CopyArgs, Globals, StoreCommand};
use copy_end::CopyEnd;
use progress::ProgressPrinter;

pub async fn run(command: StoreCommand, globals: &Globals) -> Result<Finished> {
    let StoreCommand::Copy(CopyArgs { from, to }) = command;
    let from = CopyEnd::source(&from)?;
    let to = CopyEnd::target(&to, &from)?;
    let mut printer = ProgressPrinter::default();
    let report = copy(from.location(), to.location(), BatchSize::default(), |progress| {
        printer.print(&progress)
    })
    .await?;
    Ok(outcome::finished(&report, from.location(), to.location(), globals.json))
}
