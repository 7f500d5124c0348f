//! `store`: maintenance of a store while no hub uses it.

use clap::{Args, Subcommand};

#[derive(Debug, Subcommand)]
pub enum StoreCommand {
    /// Copy everything to another store: from a data directory to PostgreSQL, or back. Cut off, it goes on where it was.
    Copy(CopyArgs),
}

#[derive(Args)]
pub struct CopyArgs {
    /// The store there is: a data directory, its hub.db, or a postgres:// URL. It is not changed.
    #[arg(long, value_name = "WHAT")]
    pub from: String,
    /// The store to be: the same kinds, empty or not there yet.
    #[arg(long, value_name = "WHAT")]
    pub to: String,
}

/// Both URLs may hold a password.
impl std::fmt::Debug for CopyArgs {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("CopyArgs").finish_non_exhaustive()
    }
}
