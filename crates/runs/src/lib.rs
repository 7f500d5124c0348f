//! Runs of strategies: one task per run, events stored before they are broadcast, and asks that are ordinary messages.

pub mod engine;
pub mod follow;
mod host;
pub mod lifecycle;
mod refusal;
mod registry;
pub mod remote;
mod run;
#[cfg(test)]
mod scene;
mod service;
pub mod settings;

pub use engine::plan::{RunPlan, read as read_plan};
pub use follow::client::{ClientAction, Close, RunClient};
pub use follow::pending::{AskSelector, PendingKind};
pub use follow::subscription::{SubscribeOutcome, Subscription};
pub use follow::view::{PendingAskView, RunView, pending_views};
pub use host::RunHost;
pub use lifecycle::prepare::PrepareContext;
pub use lifecycle::restore::Adoption;
pub use lifecycle::start::StartMode;
pub use refusal::{RefusalText, RunRefusal};
pub use registry::{ConnectedClient, RunRegistry};
pub use remote::commands::{CommandFailure, CommandReply};
pub use remote::ownership::{FindRunError, watch};
pub use run::TrackedRun;
pub use service::{RunService, RunServiceParts};
