//! Runs as people and their programs see them: which there are, where each stands, and what it did so far.

mod listed;
mod one;
mod timeline;

pub use listed::{RunListQuery, RunOverview, runs};
pub use one::{RunInfo, event_text, find};
pub use timeline::{
    MAX_TEXT_BYTES, StepDone, TextExcerpt, Timeline, TimelineEntry, TimelineNote, TimelineNoteKind, TimelineStep,
    timeline,
};
