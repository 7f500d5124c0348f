//! The terminal's door: a cue as a question, and its answer as the plain text an agent in a terminal reads.

mod cue;
mod reply;

pub use cue::{Cue, MAX_SHOWN_BYTES, Terminal, content, digest, source};
pub use reply::{Reply, reply};
