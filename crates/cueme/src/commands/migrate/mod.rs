//! `cueme migrate`: brings the mailbox of the original, `~/.cue/cue.db`, into the hub. The mailbox is only read.

mod answer;
mod attach;
mod command;
mod database;
mod import;
mod open;
mod request;
mod rows;
mod summary;

pub use command::run;
pub use request::{Agent, Request};
