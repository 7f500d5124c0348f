//! The HAP door over HTTP, for agents in a person's terminals. An agent loses no answer when its process ends.

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
