//! Command agents: permission, execution and output.

mod environment;
mod group;
mod permission;
mod process;
mod tail;

pub use permission::{Commander, run};
