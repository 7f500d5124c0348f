//! How `serve` logs.

use clap::{Args, ValueEnum};
use countersign_config::LogFormat;

#[derive(Debug, Default, PartialEq, Args)]
pub struct LogArgs {
    /// How lines of the log are written: for people, or as one JSON object each [default: text]
    #[arg(long, value_name = "FORMAT")]
    pub log_format: Option<LogFormatArg>,
    /// Log every request: method, route, status, duration, bytes, request id and account.
    #[arg(long)]
    pub access_log: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum LogFormatArg {
    Text,
    Json,
}

impl From<LogFormatArg> for LogFormat {
    fn from(format: LogFormatArg) -> Self {
        match format {
            LogFormatArg::Text => Self::Text,
            LogFormatArg::Json => Self::Json,
        }
    }
}
