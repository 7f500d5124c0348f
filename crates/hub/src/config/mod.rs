//! Configuration: defaults, then the file, then flags, validated as a whole before the hub listens.

mod file;
mod llm;
mod proxies;
mod public_url;
mod runs;
mod secret;
mod settings;

pub use file::{ConfigError, ConfigFile};
pub use llm::{ApiKey, Endpoint, LlmSettings, LlmTable, MAX_RETRIES, ProviderTable};
pub use proxies::TrustedProxies;
pub use runs::{Commands, OnStop, RunsSettings, RunsTable};
pub use secret::Secret;
pub use settings::{Config, LegacyPush, Overrides, PushSettings, TlsFiles};
