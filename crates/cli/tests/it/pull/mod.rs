//! Pulling a message and its answer.

mod state;
mod wait;
