//! HAP over HTTP: agents in a person's terminals, which ask and wait, and lose nothing when their process ends.

pub mod collected;
pub mod cue;
pub mod current;
pub mod files;
mod given;
pub mod import;
pub mod join;
pub mod kept;
mod message;
mod reply;
pub mod wait;

pub use message::IMPORTED_AT;
