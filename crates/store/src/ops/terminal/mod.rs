//! Terminal agents: joining, submitting cues, collecting answers, and type-ahead.

mod attachment;
mod find;
mod import;
mod join;
mod list;
pub mod model;
mod quota;
mod submit;
mod type_ahead;

pub use attachment::Attachment;
pub use find::{Collect, CurrentCue, FindCue, MAX_UNCOLLECTED, OpenCues, UncollectedCues};
pub use import::ImportCue;
pub use join::JoinTerminal;
pub use list::{ListTerminals, TerminalOf};
pub use model::{
    Ahead, CueOutcome, ExceededQuota, FoundCue, ImportOutcome, JoinOutcome, NewCue, TerminalSummary, TypeAheadOutcome,
};
pub use quota::{JOIN_WINDOW, TerminalQuota};
pub use submit::SubmitCue;
pub use type_ahead::{DropAhead, ListAhead, MAX_AHEAD, TypeAhead, WRITTEN_AHEAD};

pub(super) use attachment::store_files;
pub(super) use join::person_of;
pub(super) use quota::release;

/// Whether a cue is open or its answer uncollected. Cues that their agent withdrew are not.
macro_rules! waits {
    () => {
        "(m.status = 'open' OR (m.resolution_seq IS NOT NULL AND m.status <> 'cancelled' AND f.seq IS NULL))"
    };
}
use waits;
