//! Settings of runs: what strategies may do on this machine, and how models are reached.

mod limits;
mod llm;
mod secret;

pub use limits::{Commands, OnStop, RunsSettings, RunsTable};
pub use llm::{ApiKey, Endpoint, LlmSettings, LlmTable, MAX_RETRIES, ProviderTable};
pub use secret::Secret;

/// A setting that is refused, by its name in the configuration file.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{key}: {message}")]
pub struct InvalidSetting {
    pub key: &'static str,
    pub message: String,
}

impl InvalidSetting {
    pub fn new(key: &'static str, message: impl Into<String>) -> Self {
        Self {
            key,
            message: message.into(),
        }
    }
}
