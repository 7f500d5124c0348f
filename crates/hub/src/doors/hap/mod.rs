//! The HAP door over HTTP, for agents in a person's terminals. An agent loses no answer when its process ends.

pub mod ack;
pub mod cue;
pub mod current;
pub mod files;
pub mod import;
pub mod join;
mod message;
mod reply;
mod request;
pub mod uncollected;
pub mod wait;
