//! From the command line, the environment and the configuration file to a hub that runs.

pub mod config;
pub mod locate;
pub mod settings;
pub mod start;
