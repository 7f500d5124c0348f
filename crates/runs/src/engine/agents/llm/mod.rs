//! LLM agents: models behind an OpenAI-compatible endpoint.

mod attempt;
mod body;
mod chunk;
mod client;
mod conversation;
mod excerpt;
mod prompt;
mod questions;
mod response;
mod tool_calls;

pub use client::Models;
pub use conversation::talk;
