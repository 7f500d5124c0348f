//! Runs of strategies: one task a run, everything stored before it is told, asks of people that are messages like any other.

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

pub use client::{Client, Close, Next};
pub(crate) use join::{Joined, Joining};
pub(crate) use look::{Look, Wait, waits};
pub(crate) use pending::Asked;
pub use pending::Wanted;
pub(crate) use plan::{Plan, read as read_plan};
pub use prepare::Preparing;
pub use refusal::Refusal;
pub use registry::{Connected, Runs};
pub use restore::Adoption;
pub use run::Run;
pub use start::How;
pub(crate) use whereabouts::{NotFound, watch};
