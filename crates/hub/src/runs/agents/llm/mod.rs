//! LLM agents: models behind an OpenAI-compatible endpoint.

mod backoff;
mod body;
mod calls;
mod chunk;
mod client;
mod excerpt;
mod heard;
mod prompt;
mod questions;
mod round;
mod sse;
mod talk;

pub use client::Models;
pub use talk::talk;
