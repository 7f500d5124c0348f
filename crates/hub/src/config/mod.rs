//! What the operator decided: defaults, then the file, then flags, checked as a whole before anything listens.

mod file;
mod proxies;
mod public_url;
mod settings;

pub use file::{ConfigError, ConfigFile};
pub use proxies::TrustedProxies;
pub use settings::{Config, LegacyPush, Overrides, PushSettings, TlsFiles};
