//! `store`: maintenance of a store while no hub uses it.

use clap::{Args, Subcommand};

#[derive(Debug, Subcommand)]
pub enum StoreCommand {
    /// Copy everything to another store: from a data directory to PostgreSQL, or back. An interrupted copy resumes where it stopped.
    Copy(CopyArgs),
}

#[derive(Args)]
pub struct CopyArgs {
    /// The source store: a data directory, its hub.db, or a postgres:// URL. It is not changed.
    #[arg(long, value_name = "WHAT")]
    pub from: String,
    /// The target store, of the same kinds: empty or missing.
    #[arg(long, value_name = "WHAT")]
    pub to: String,
}

/// Both URLs may hold a password.
impl std::fmt::Debug for CopyArgs {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("CopyArgs").finish_non_exhaustive()
    }
}
