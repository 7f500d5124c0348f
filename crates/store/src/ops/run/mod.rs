//! Runs of strategies: their state, events and asks. A run is driven by one task of one hub, in segments; writes for a
//! segment that is no longer running are refused.
//!
//! Texts arrive as JSON, in which U+0000 is escaped. In all other texts U+0000 becomes U+2400, on every engine, because
//! PostgreSQL cannot store it.

mod adopt;
mod advance;
mod asks;
mod begin;
mod commands;
mod convert;
mod events;
mod find;
mod follow;
mod list;
pub mod model;
mod purge;
mod read;

pub use adopt::{AdoptRuns, Adopted, RunsOfNode};
pub use advance::{Advance, AskInRun, EndRun, MAX_BYTES, MAX_EVENTS, MAX_RECORDS};
pub use asks::{PendingAsks, RunOfAsk};
pub use begin::{BeginRun, ReserveNumbers};
pub use commands::{DeleteRunCommand, ReadRunCommands, RemoteCommand, SendRunCommand};
pub use events::{LatestEvents, RunEvents};
pub use find::{FindRun, ReadRun};
pub use follow::{FollowRun, Followed, NewSegment, OpenAsk, OpenAsks, RunVersion, RunVersions};
pub use list::ListRuns;
pub use model::{
    BeginOutcome, NewAsk, NewRun, Run, RunCursor, RunEnding, RunPhase, RunSummary, RunSummaryPage, RunWithRecords,
    StoredAsk, StoredEvent, StoredRunState,
};
pub use purge::{OldestEndedRun, PurgeRuns};
