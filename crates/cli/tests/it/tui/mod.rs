//! The inbox in a real terminal: keys go in, the screen is read back.

mod answering;
mod browser;
pub mod cues;
mod exit;
mod live;
mod pane;
mod prompts;
mod questions;
mod rendering;
mod runs;
mod selecting;
mod sign_in_code;

pub use pane::Pane;
