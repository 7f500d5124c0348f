//! Runs as people and API clients see them: the list, the status of one run, and its timeline.

mod info;
mod overview;
mod timeline;

pub use info::{RunInfo, event_text, find};
pub use overview::{RunListQuery, RunOverview, runs};
pub use timeline::{
    MAX_TEXT_BYTES, StepDone, TextExcerpt, Timeline, TimelineEntry, TimelineNote, TimelineNoteKind, TimelineStep,
    timeline,
};
