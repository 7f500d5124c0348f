//! Agents in terminals: how they join, what they ask, how they collect the answer, and what people type ahead for them.

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

/// Whether the answer of a cue is still to be collected. What its own agent took back is not.
macro_rules! waits {
    () => {
        "(m.status = 'open' OR (m.resolution_seq IS NOT NULL AND m.status <> 'cancelled' AND f.seq IS NULL))"
    };
}
use waits;
