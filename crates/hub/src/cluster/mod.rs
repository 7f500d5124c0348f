//! The other hubs on the same store: publishing to them, subscribing to them, and taking over when one is gone.
//!
//! A signal between hubs is a hint and may be lost. The store is the truth, and periodic reconciliation reads it to make up
//! for lost signals. On an unshared store all of this is inactive.

mod lease;
mod publish;
mod reconcile;
mod replies;
mod run_commands;
mod seen;
mod signal;
mod subscribe;

pub use lease::{LEASE, enter, leave, run as lease};
pub use publish::Cluster;
pub use reconcile::run as net;
pub use run_commands::{CommandFailure, CommandReply};
pub use signal::Signal;
pub use subscribe::run as hear;
