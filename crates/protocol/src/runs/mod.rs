//! The wire of runs: what a client says over the socket, what it hears, and the file that says what runs.

mod client;
mod conversation;
mod event;
mod fault;
mod object;
mod read;
mod reply;
mod request_id;
mod status;
pub mod strategy;
mod usage;

pub use client::{
    ClientMessage, Decision, Mode, PolicyDefault, PrepareRun, Received, Refused, UpdatePolicy, is_run_id,
};
pub use conversation::{ChatMessage, Conversation, Input, Record};
pub use event::{Event, PolicyName, RunError, StepResult, StreamEvent, ToolStatus, mark_resolved};
pub use read::read;
pub use reply::{ListedRun, LiveRun, PendingInput, Reply};
pub use status::RunStatus;
pub use usage::Usage;
