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
pub use asks::{PendingAsks, RunOfAsk};
pub use begin::{BeginRun, ReserveNumbers};
pub use events::{LatestEvents, RunEvents};
pub use find::{FindRun, ReadRun};
pub use follow::{FollowRun, Followed, NewSegment, OpenAsk, OpenAsks, RunVersion, RunVersions};
pub use list::ListRuns;
pub use mail::{DeleteRunCommand, ReadRunCommands, RemoteCommand, SendRunCommand};
pub use model::{
    BeginOutcome, NewAsk, NewRun, Run, RunCursor, RunEnding, RunPhase, RunSummary, RunSummaryPage, RunWithRecords,
    StoredAsk, StoredEvent, StoredRunState,
};
pub use prune::{MAX_BYTES, MAX_EVENTS, MAX_RECORDS};
pub use purge::{OldestEndedRun, PurgeRuns};
