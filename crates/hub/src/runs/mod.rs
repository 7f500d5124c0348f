//! Runs of strategies: one task per run, events stored before they are broadcast, and asks that are ordinary messages.

pub mod agents;
mod answer;
mod client;
mod conversation;
mod file;
mod frame;
mod join;
mod ledger;
mod list;
mod look;
mod mail;
mod mirror;
mod mirrors;
mod pending;
mod plan;
mod prepare;
mod refusal;
mod registry;
mod restore;
mod ring;
mod run;
#[cfg(test)]
mod scene;
mod standing;
mod start;
mod steer;
mod stop;
mod subscribe;
mod task;
mod telling;
mod whereabouts;

pub use client::{ClientAction, Close, RunClient};
pub use join::{SubscribeOutcome, Subscription};
pub use look::{PendingAskView, RunView, pending_views};
pub use pending::AskSelector;
pub use pending::PendingKind;
pub use plan::{RunPlan, read as read_plan};
pub use prepare::PrepareContext;
pub use refusal::RunRefusal;
pub use registry::{ConnectedClient, Runs};
pub use restore::Adoption;
pub use run::TrackedRun;
pub use start::StartMode;
pub use whereabouts::{FindRunError, watch};
