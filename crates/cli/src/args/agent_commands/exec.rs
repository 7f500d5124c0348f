use std::ffi::OsString;

use clap::Args;

/// A command to run with an outcome. No shell reads it: what people wrote never becomes part of a command line.
#[derive(Debug, Clone, Args)]
pub struct ExecArgs {
    /// Run this command, once for each outcome ever; everything after --exec belongs to it.
    ///
    /// It gets the outcome as JSON on standard input, and COUNTERSIGN_MESSAGE_ID, COUNTERSIGN_RESOLUTION and
    /// COUNTERSIGN_RESOLUTION_ID in its environment.
    #[arg(long = "exec", value_name = "CMD", num_args = 1.., allow_hyphen_values = true)]
    pub words: Vec<OsString>,
}
