//! `cueme proto`: puts the words of the protocol into the file that a coding agent reads at every start, and takes them out
//! again.

mod blocks;
mod commands;
mod edit;
mod paths;
#[cfg(test)]
mod scratch;
mod settings;
mod targets;
mod write;

pub use commands::run;
pub use settings::KEYS;
pub use write::read;
#[cfg(windows)]
pub use write::replace;

/// What an agent has to know to talk with its person: `cueme -p` prints it, `proto apply` installs it.
pub const PROTOCOL: &str = include_str!("protocol.md");
