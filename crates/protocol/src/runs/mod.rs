//! The protocol of runs: client messages, events and replies over the socket, and the strategy file.

mod client;
mod conversation;
mod event;
mod fault;
mod not_offered;
mod object;
mod read;
mod reply;
mod request_id;
mod status;
pub mod strategy;
mod usage;

pub use client::{
    ClientMessage, Decision, PolicyDefault, PolicyMode, PrepareRun, Received, RefusedMessage, UpdatePolicy, is_run_id,
};
pub use conversation::{ChatMessage, Conversation, Record, RunInput};
pub use event::{Event, PolicyName, RunError, StepResult, StreamEvent, ToolStatus, mark_resolved};
pub use read::read;
pub use reply::{AuthStatus, ListedRun, LiveRun, PendingInput, Provider, RunReply};
pub use status::RunStatus;
pub use usage::{ContextUsage, Usage};
