//! The inbox in a real terminal: keys go in, the screen is read back.

mod answering;
pub mod cues;
mod following;
mod leaving;
mod pane;
mod prompts;
mod runs;
mod showing;

use pane::Pane;
