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
pub use join::{Joined, Joining};
pub use look::{Look, Wait, waits};
pub use pending::Asked;
pub use pending::Wanted;
pub use plan::{Plan, read as read_plan};
pub use prepare::Preparing;
pub use refusal::Refusal;
pub use registry::{Connected, Runs};
pub use restore::Adoption;
pub use run::Run;
pub use start::How;
pub use whereabouts::{NotFound, watch};
