//! Test helpers for runs: a WebSocket client, strategy files, a scripted model, and commands that block until released.

mod client;
mod dial;
mod frame;
mod latch;
mod model;
mod strategy;
mod waiting_runs;

pub use client::Client;
pub use dial::Dial;
pub use frame::{Frames, field_names, seq, seqs, without};
pub use latch::Latch;
pub use model::{Gate, Model, ModelReply, ModelRequest, Part, calls, says, tool_call};
pub use strategy::*;
pub use waiting_runs::waiting_runs;
