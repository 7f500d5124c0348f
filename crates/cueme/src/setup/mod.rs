//! Settings from the command line, the environment and the configuration file; locating and starting a hub.

pub mod config;
pub mod locate;
pub mod settings;
pub mod start;
