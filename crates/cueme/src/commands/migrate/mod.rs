//! `cueme migrate`: imports the mailbox of the original cueme, `~/.cue/cue.db`, into the hub. The mailbox is only read.

mod answer;
mod attachments;
mod command;
mod database;
mod import;
mod open;
mod request;
mod rows;
mod summary;

pub use command::run;
pub use request::{MailboxAgent, MailboxRequest};
