//! What the operator decided: defaults, then the file, then flags, checked as a whole before anything listens.

mod file;
mod settings;

pub use file::{ConfigError, ConfigFile};
pub use settings::{Config, LegacyPush, Overrides, PushSettings, TlsFiles};
