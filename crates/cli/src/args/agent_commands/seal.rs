//! `seal` and `open`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

#[derive(Debug, Args)]
pub struct SealKeyArgs {
    /// The environment variable with the key: 32 bytes as base64 or hex [default: COUNTERSIGN_SEAL_KEY]
    #[arg(long, value_name = "NAME", conflicts_with = "key_file")]
    pub key_env: Option<String>,
    /// A file with the key.
    #[arg(long, value_name = "FILE")]
    pub key_file: Option<PathBuf>,
    /// Bind the seal to an agent and an idempotency key: it opens with the same two only.
    #[arg(long, num_args = 2, value_names = ["AGENT", "KEY"], allow_hyphen_values = true)]
    pub bind: Vec<String>,
}

#[derive(Debug, Args)]
pub struct SealArgs {
    #[command(flatten)]
    pub key: SealKeyArgs,
    /// Whose token format to use when nothing is bound.
    #[arg(long, value_enum, default_value_t = SealFamily::A2h, conflicts_with = "bind")]
    pub family: SealFamily,
}

#[derive(Debug, Args)]
pub struct OpenArgs {
    #[command(flatten)]
    pub key: SealKeyArgs,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub enum SealFamily {
    A2h,
    Ma2h,
}
