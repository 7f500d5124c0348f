//! `audit`: the audit trail as a whole.

use clap::{Args, Subcommand};
use countersign_store::ops::message::audit_report::AuditCheckpoint;

#[derive(Debug, Subcommand)]
pub enum AuditCommand {
    /// Check every entry of the audit trail, and every stored message and answer against it. Changes nothing; hubs may
    /// keep running. Exits with 1 if there is a fault.
    Verify(VerifyAuditArgs),
}

#[derive(Args)]
pub struct VerifyAuditArgs {
    /// The store: a data directory, its hub.db, or a postgres:// URL [default: COUNTERSIGN_DATABASE_URL, else the data
    /// directory]
    #[arg(long, value_name = "WHAT")]
    pub store: Option<String>,
    /// A checkpoint that an earlier call printed: the trail must still begin with exactly that.
    #[arg(long, value_name = "NUMBER:SHA256")]
    pub expect: Option<AuditCheckpoint>,
}

/// The URL may hold a password.
impl std::fmt::Debug for VerifyAuditArgs {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("VerifyAuditArgs").finish_non_exhaustive()
    }
}
