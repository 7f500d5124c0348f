//! What these tests bring along: a client of the socket, strategy files, a model that does as it is told, commands that
//! wait to be let go.

mod client;
mod crowd;
mod dial;
mod frame;
mod latch;
mod model;
mod strategy;

pub use client::Client;
pub use crowd::waiting_runs;
pub use dial::Dial;
pub use frame::{Frames, field_names, seq, seqs, without};
pub use latch::Latch;
pub use model::{Gate, Model, ModelReply, ModelRequest, Part, calls, says, tool_call};
pub use strategy::*;
