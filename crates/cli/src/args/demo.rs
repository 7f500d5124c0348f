//! `countersign demo`.

use clap::Args;

/// The six agents are added at the hub of the data directory and removed at the end.
#[derive(Debug, Args)]
pub struct DemoArgs {
    /// Let each agent ask once, and exit when all have their answers.
    #[arg(long)]
    pub once: bool,
}
