//! The other hubs on the same store: publishing to them, subscribing to them, and taking over when one is gone.
//!
//! A signal between hubs is a hint and may be lost. The store is the truth, and periodic reconciliation reads it to
//! make up for lost signals. On an unshared store all of this is inactive.

mod hear;
mod known;
mod lease;
mod letters;
mod net;
mod post;
mod say;
mod signal;

pub use hear::run as hear;
pub use lease::{LEASE, enter, leave, run as lease};
pub use letters::{CommandFailure, CommandReply};
pub use net::run as net;
pub use say::Cluster;
pub use signal::Signal;
