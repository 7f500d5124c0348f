//! The terminal's door: a cue as a question, and its answer as the plain text an agent in a terminal reads.

mod cue;
mod reply;

pub use crate::excerpt::MAX_SHOWN_BYTES;
pub use cue::{Cue, Terminal, content, digest, source};
pub use reply::{CueReply, reply};
