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

pub use ahead::{DropAhead, ListAhead, MOST_AHEAD, TypeAhead, WRITTEN_AHEAD};
pub use attachment::Attachment;
pub use bounds::{Bounds, JOINED_WITHIN};
pub use find::{Collect, Current, FindCue, Kept, MOST_KEPT, OpenCues};
pub use import::ImportCue;
pub use join::Join;
pub use list::{TerminalOf, Terminals};
pub use model::{Ahead, CueOutcome, FoundCue, Imported, Joined, NewCue, TerminalSummary, TooMany, Typed};
pub use submit::SubmitCue;

pub(super) use attachment::keep;
pub(super) use bounds::release;
pub(super) use join::person_of;

/// Whether the answer of a cue is still to be collected. What its own agent took back is not.
macro_rules! waits {
    () => {
        "(m.status = 'open' OR (m.resolution_seq IS NOT NULL AND m.status <> 'cancelled' AND f.seq IS NULL))"
    };
}
use waits;
