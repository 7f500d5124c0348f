//! The inbox in a real terminal: keys go in, the screen is read back.

mod answering;
pub mod cues;
mod exit;
mod live;
mod pane;
mod prompts;
mod rendering;
mod runs;
mod selecting;

pub use pane::Pane;
