//! Runs as people and their programs see them: which there are, where each stands, and what it did so far.

mod listed;
mod one;
mod timeline;

pub use listed::{Asking, Listed, runs};
pub use one::{OneRun, find, text_of};
pub use timeline::{Done, Entry, Happened, MOST_SHOWN, Said, Step, Text, Timeline, timeline};
