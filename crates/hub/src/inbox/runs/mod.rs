//! Runs as people and API clients see them: the list, the status of one run, and its timeline.

mod listed;
mod one;
mod timeline;

pub use listed::{RunListQuery, RunOverview, runs};
pub use one::{RunInfo, event_text, find};
pub use timeline::{
    MAX_TEXT_BYTES, StepDone, TextExcerpt, Timeline, TimelineEntry, TimelineNote, TimelineNoteKind, TimelineStep,
    timeline,
};
