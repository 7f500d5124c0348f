//! Terminal agents: joining, submitting cues, collecting answers, and type-ahead.

mod ahead;
mod attachment;
mod bounds;
mod find;
mod import;
mod join;
mod list;
pub mod model;
mod submit;

pub use ahead::{DropAhead, ListAhead, MAX_AHEAD, TypeAhead, WRITTEN_AHEAD};
pub use attachment::Attachment;
pub use bounds::{JOIN_WINDOW, TerminalQuota};
pub use find::{Collect, CurrentCue, FindCue, MAX_UNCOLLECTED, OpenCues, UncollectedCues};
pub use import::ImportCue;
pub use join::JoinTerminal;
pub use list::{ListTerminals, TerminalOf};
pub use model::{
    Ahead, CueOutcome, FoundCue, ImportOutcome, JoinOutcome, NewCue, TerminalSummary, TooMany, TypeAheadOutcome,
};
pub use submit::SubmitCue;

pub(super) use attachment::store_files;
pub(super) use bounds::release;
pub(super) use join::person_of;

/// Whether a cue is open or its answer uncollected. Cues that their agent withdrew are not.
macro_rules! waits {
    () => {
        "(m.status = 'open' OR (m.resolution_seq IS NOT NULL AND m.status <> 'cancelled' AND f.seq IS NULL))"
    };
}
use waits;
