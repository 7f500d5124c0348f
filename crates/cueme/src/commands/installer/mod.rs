//! `cueme proto`: installs the protocol text into the file that a coding agent reads at every start, and removes it
//! again.

mod atomic_file;
mod blocks;
mod commands;
mod edit;
mod environment;
mod original;
#[cfg(test)]
mod scratch;
mod settings;
mod targets;

pub use atomic_file::read;
#[cfg(windows)]
pub use atomic_file::replace;
pub use commands::run;
pub use original::{SettingsMove, move_settings, settings_of_the_original};
pub use settings::KEYS;
pub use targets::Scope;

/// The instructions for an agent on talking with its user: `cueme -p` prints them, `proto apply` installs them.
pub const PROTOCOL: &str = include_str!("protocol.md");
