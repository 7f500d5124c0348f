//! An agent that is a program: may it run, and what came out.

mod environment;
mod group;
mod permission;
mod process;
mod tail;

pub use permission::{Commander, run};
