//! Test helpers for runs: a WebSocket client, strategy files, a scripted model, and commands that block until released.

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
