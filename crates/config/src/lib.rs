//! Configuration: defaults, then the file, then flags, validated as a whole before the hub listens.

mod browser_url;
mod file;
mod lan;
mod proxies;
mod public_url;
mod settings;
#[cfg(test)]
mod shipped_file;

pub use browser_url::browser_url;
pub use countersign_runs::settings::{
    ApiKey, Commands, Endpoint, LlmSettings, LlmTable, OnStop, RunsSettings, RunsTable, Secret,
};
pub use file::{ConfigError, ConfigFile, LogFormat, LogTable};
pub use lan::own_lan_address;
pub use proxies::TrustedProxies;
pub use settings::{Config, LegacyPush, Overrides, PushSettings, TlsFiles};
