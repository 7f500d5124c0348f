//! The terminal door: translates a cue into a question, and its answer into plain text for the agent.

mod cue;
mod reply;

pub use crate::excerpt::MAX_SHOWN_BYTES;
pub use cue::{Cue, Terminal, content, digest, project, source};
pub use reply::{CueReply, reply};
