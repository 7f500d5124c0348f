//! Runs of strategies: where each stands, what it told, what it asks. A run is moved by one task of the hub, in segments; what
//! is written for a segment that is no longer under way is refused.
//!
//! The texts come rendered as JSON, in which U+0000 is escaped. In whatever else has one it becomes U+2400, on every engine:
//! PostgreSQL does not store it.

mod adopt;
mod advance;
mod asks;
mod begin;
mod events;
mod find;
mod follow;
mod list;
mod mail;
pub mod model;
mod prune;
mod purge;
mod read;
mod text;

pub use adopt::{AdoptRuns, Adopted, RunsOfNode};
pub use advance::{Advance, AskInRun, EndRun};
pub use asks::{AskOf, TakeAsks};
pub use begin::{BeginRun, ReserveNumbers};
pub use events::{LatestEvents, RunEvents};
pub use find::{FindRun, LookAtRun};
pub use follow::{Entered, FollowRun, Followed, Glance, GlanceAtRuns, OpenAsk, OpenAsks};
pub use list::ListRuns;
pub use mail::{DropLetter, Letter, ReadMail, WriteToRun};
pub use model::{
    Begun, Ending, FoundAsk, FoundRun, NewAsk, NewRun, Phase, Run, RunPage, RunPlace, RunState, RunSummary, StoredEvent,
};
pub use prune::{MOST_BYTES, MOST_EVENTS, MOST_RECORDS};
pub use purge::{OldestEndedRun, PurgeRuns};
