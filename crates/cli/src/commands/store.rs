//! `store copy`: everything a hub knows, from one database to another.

mod end;
mod outcome;
mod teller;

use anyhow::Result;
use countersign_store::copy::{Portion, copy};

use super::Finished;
use crate::args::{CopyArgs, Globals, StoreCommand};
use end::End;
use teller::Teller;

pub async fn run(command: StoreCommand, globals: &Globals) -> Result<Finished> {
    let StoreCommand::Copy(CopyArgs { from, to }) = command;
    let from = End::source(&from)?;
    let to = End::target(&to, &from)?;
    let mut teller = Teller::default();
    let report = copy(from.place(), to.place(), Portion::default(), |progress| {
        teller.tell(&progress)
    })
    .await?;
    Ok(outcome::finished(&report, from.place(), to.place(), globals.json))
}
